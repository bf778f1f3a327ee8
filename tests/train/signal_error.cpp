#include <coldpress/train/signal_error.hpp>

#include <coldpress/data/segments.hpp>
#include <coldpress/train/html_report.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

#include <numbers>

namespace coldpress::train {
namespace {

/// A device that halves its input, of which the network is a model with one weight.
struct Halving {
  std::unique_ptr<data::Source> all = [] {
    data::SignalPair signals;
    for (int i = 0; i < 4800; ++i) {
      // A sine of 3 kHz, silent in the first half.
      double const x = i < 2400 ? 0.001 : std::sin(2 * std::numbers::pi * 3000 * i / 48000.0);
      signals.input.push_back(static_cast<float>(x));
      signals.output.push_back(static_cast<float>(0.5 * x));
    }
    return data::segments(std::move(signals), {.length = 96});
  }();
  using Net =
      Network<Sequential<Convolution{.num_output = 1, .filter_shape = 1, .has_bias = false, .weight = Constant{0.3f}}>,
              Shape{96, 1}>;
  std::unique_ptr<Net> net = std::make_unique<Net>(1);
  coldpress::Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0}> solver{*net};
};

}  // namespace

TEST_CASE("the ratio is that of all segments together, and a statistic") {
  Halving device;
  Trainer trainer{device.solver, *device.all, {.epochs = 2, .batch = 16}};
  auto const& judge = trainer.every(epochs(1), SignalError{*device.all, "test"});
  CHECK(std::isnan(judge.ratio()));
  CHECK(judge.charts(48000).empty());
  trainer.run();
  // (0.5 - 0.3)² / 0.5²
  CHECK(judge.ratio() == Approx(0.16).epsilon(1e-5));
  CHECK(trainer.statistics().find("test/esr")->values.size() == 2);
}

TEST_CASE("charts have the loudest 20 ms, and spectra with their peaks where the signal is") {
  Halving device;
  Trainer trainer{device.solver, *device.all, {.epochs = 1, .batch = 16}};
  auto const& judge = trainer.every(epochs(1), SignalError{*device.all});
  trainer.run();
  auto const charts = judge.charts(48000);
  REQUIRE(charts.size() == 2);
  auto const& wave = charts[0].curves;
  REQUIRE(wave[0].y.size() == 960);
  CHECK(wave[0].x.back() == Approx(959.0 / 48));
  CHECK(*std::max_element(wave[0].y.begin(), wave[0].y.end()) == Approx(0.5));
  CHECK(*std::max_element(wave[1].y.begin(), wave[1].y.end()) == Approx(0.3));
  for (data::Curve const& curve : charts[1].curves) {
    auto const peak = std::max_element(curve.y.begin(), curve.y.end()) - curve.y.begin();
    CHECK(curve.x[static_cast<std::size_t>(peak)] == Approx(3).margin(0.03));
  }
  double const apart = charts[1].curves[0].y[64] - charts[1].curves[1].y[64];
  CHECK(apart == Approx(20 * std::log10(0.5 / 0.3)).epsilon(1e-3));
}

TEST_CASE("a report shows charts of its own, and none while there are none") {
  TemporaryFolder const folder;
  Halving device;
  Trainer trainer{device.solver, *device.all, {.epochs = 1, .batch = 16}};
  auto const& judge = trainer.every(epochs(1), SignalError{*device.all});
  std::string const path = folder / "report.html";
  trainer.every(epochs(1), HtmlReport{path,
                                      {.charts = {{"Wave <&>", [&] { return judge.charts(48000); }},
                                                  {"Nothing", [] { return std::vector<data::Chart>{}; }}}}});
  trainer.run();
  std::string const page = content(path);
  CHECK(contains(page, "Wave &lt;&amp;&gt;"));
  CHECK(contains(page, "src=\"data:image/svg+xml;base64,"));
  CHECK_FALSE(contains(page, "Nothing"));
  CHECK(contains(page, "esr"));
}

TEST_CASE("what is said of a ratio changes at the bounds of the field") {
  CHECK(judgement_of_ratio(0.0099) == std::string{"great"});
  CHECK(judgement_of_ratio(0.01) == std::string{"not bad"});
  CHECK(judgement_of_ratio(0.05) == std::string{"might sound ok"});
  CHECK(judgement_of_ratio(0.2) == std::string{"probably does not sound great"});
  CHECK(judgement_of_ratio(std::nan("")) == std::string{"something has gone wrong"});
  std::vector<float> const silence(3), noise{1, 2, 3};
  CHECK(std::isnan(error_to_signal_ratio(noise, silence)));
  CHECK(error_to_signal_ratio(silence, noise) == 1);
}

}  // namespace coldpress::train
