// Juice's example of a recurrent network, with a meaningful test: an LSTM reads the last values of a series, one per
// step, and forecasts the next one. It learns the series that is integrated here; with --csv also the table of Juice's
// example, of which a fifth, drawn at random, is held out; with --juice it prints the error on that table of a network
// that Juice saved.
//
//   mackey_glass_rnn [--csv FILE] [--juice FILE] [--output DIR] [--epochs N] [--seed N]
//
// Writes DIR/mackey_glass_rnn.svg and DIR/mackey_glass_rnn.juice. FILE of --csv has the target in its first column and
// ten values before it, latest first, in the others.
// ctest:
// ctest csv: --csv @DATA@/mackey-glass/norm_mackeyglass_test.csv.gz --juice
// @DATA@/juice/mackey-glass-rnn.juice
#include <coldpress/coldpress.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/data/chart.hpp>
#include <coldpress/data/mackey_glass.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/evaluators/regression_evaluator.hpp>
#include <coldpress/persist.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

using namespace coldpress;

/// Samples are `steps` values; the network reads them as steps of one feature.
template <Index steps>
using Forecaster =
    Network<Sequential<Reshape{{steps, 1}}, Rnn{.hidden_size = 16, .output = RnnOutput::last_step}, Linear{1}>,
            Shape{steps}>;
constexpr Adam adam{.learning_rate = 5e-3f};
constexpr Index batch_size = 40;

struct Options {
  std::string csv, juice;
  std::filesystem::path output = ".";
  Index epochs = 20;
  std::uint64_t seed = 1;
};

double mean_squared_error(std::span<float const> forecasts, data::Dataset const& dataset) {
  RegressionEvaluator evaluator{"mse"};
  evaluator.add_samples(forecasts, dataset.targets);
  return evaluator.value();
}

/// Trains with a learning rate that falls to zero, and returns the error on the held-out samples after each epoch.
template <class Net>
data::Curve train(std::string const& what, Net& net, data::Split const& samples, Options const& options) {
  Index const steps = options.epochs * ((samples.training.size() + batch_size - 1) / batch_size);
  Solver<Net, MeanSquaredError{}, adam> solver{net};
  data::Batches batches{samples.training, batch_size, options.seed};
  data::Progress progress{stdout, options.epochs * samples.training.size()};
  progress.print(what + ": " + std::to_string(samples.training.size()) + " samples to learn from, " +
                 std::to_string(samples.held_out.size()) + " held out");
  data::Curve curve{what};
  for (Index epoch = 1; epoch <= options.epochs; ++epoch) {
    std::string const label = "epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs);
    Index done = (epoch - 1) * samples.training.size();
    for (auto const& batch : batches.epoch()) {
      solver.optimizer().learning_rate =
          adam.learning_rate * (1 - static_cast<float>(solver.step()) / static_cast<float>(steps));
      float const loss = solver.train_minibatch(batch.samples, batch.targets);
      progress.update(label, done += batch.size, double{loss});
    }
    double const error = mean_squared_error(net.forward(samples.held_out.samples), samples.held_out);
    curve.x.push_back(static_cast<double>(epoch)), curve.y.push_back(std::log10(error));
    char line[80];
    std::snprintf(line, sizeof line, "  epoch %2td   held-out mean squared error %.2e", epoch, error);
    progress.print(line);
  }
  progress.finish();
  return curve;
}

/// From the last values of the series to the one 6 places after them; the held-out part comes after the known part.
template <Index steps>
data::Split series_samples() {
  constexpr Index known = 8000, unseen = 2000, ahead = 6;
  std::vector<float> const values = data::series({}, known + unseen);
  return {data::windows(std::span{values}.first(known), steps, ahead),
          data::windows(std::span{values}.subspan(known), steps, ahead)};
}

bool run(Options const& options) {
  std::filesystem::create_directories(options.output);
  std::vector<data::Curve> curves;
  bool good = true;
  auto const judge = [&](data::Curve curve, double limit) {
    good = good && std::pow(10, curve.y.back()) < limit;
    curves.push_back(std::move(curve));
  };

  constexpr Index steps = 24;
  Forecaster<steps> chaotic{options.seed};
  judge(train("The Mackey-Glass series, 6 steps ahead", chaotic, series_samples<steps>(), options), 1e-3);
  save(chaotic, options.output / "mackey_glass_rnn.juice");

  if (!options.csv.empty()) {
    data::Dataset const table = data::open("csv:" + options.csv);
    Forecaster<10> net{options.seed};
    judge(train("Juice's table", net, data::split(table, 0.2, options.seed), options), 1e-4);
    if (!options.juice.empty()) {
      auto layer = dynamic::Layer::load({}, options.juice);
      std::printf("\nThe network that Juice saved, for one sample:\n%s", dynamic::describe(layer.config()).c_str());
      std::printf("Its mean squared error on the table: %.2e\n",
                  mean_squared_error(layer.predict(table.samples), table));
    }
  }
  std::string const picture = options.output / "mackey_glass_rnn.svg";
  data::write_svg(picture, {{"Mean squared error on held-out samples", "epoch", "log10", curves}});
  std::printf("\nThe curves are in %s\n", picture.c_str());
  return good;
}

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
      if (name == "--csv")
        options.csv = value;
      else if (name == "--juice")
        options.juice = value;
      else if (name == "--output" && !value.empty())
        options.output = value;
      else if (name == "--epochs" && std::stoi(value) > 0)
        options.epochs = std::stoi(value);
      else if (name == "--seed")
        options.seed = std::stoull(value);
      else
        throw std::invalid_argument{name};
    }
    if (options.csv.empty() && !options.juice.empty()) throw std::invalid_argument{"--juice"};
  } catch (std::exception const&) {
    std::fprintf(stderr,
                 "usage: mackey_glass_rnn [--csv FILE [--juice FILE]] [--output DIR] [--epochs N] [--seed N]\n");
    return 2;
  }
  try {
    return run(options) ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "mackey_glass_rnn: %s\n", error.what());
    return 1;
  }
}
