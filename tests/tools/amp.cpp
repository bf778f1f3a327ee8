#include <coldpress/convert/nam.hpp>
#include <coldpress/data/segments.hpp>
#include <coldpress/data/sound.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include "tools/command.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace coldpress::command {
namespace {

/// Noise through a device that is late by 40 samples, in WAV files.
struct Recording {
  TemporaryFolder folder;
  std::string in = folder / "in.wav", out = folder / "out.wav", save = folder / "my.juice";
  std::vector<float> input;
  explicit Recording(std::size_t steps = 12000) {
    std::mt19937 generator{1};
    std::normal_distribution<float> normal{0, 0.2f};
    data::Sound x, y;
    for (std::size_t i = 0; i < steps; ++i) {
      x.values.push_back(normal(generator));
      y.values.push_back(i < 40 ? 0 : 0.5f * std::tanh(2 * x.values[i - 40]));
    }
    data::write_sound(in, x);
    data::write_sound(out, y);
    input = x.values;
  }
  /// The command's arguments: small ones, unless `more` has others.
  std::vector<std::string> with(std::vector<std::string> const& more) const {
    std::vector<std::string> all{"amp", "train"};
    for (auto const& [option, value] : {std::pair{"--input", in},
                                        {"--output", out},
                                        {"--save", save},
                                        {"--architecture", "a1-nano"},
                                        {"--segment", "512"},
                                        {"--batch", "4"},
                                        {"--validate", "0.2"}}) {
      if (std::ranges::find(more, option) == more.end()) all.insert(all.end(), {option, value});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

double last(std::string const& text, std::string const& label) {
  auto const at = text.rfind(label);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + label.size()));
}

}  // namespace

TEST_CASE("two sound files become a model that streams, and a report") {
  if (!has_command()) return;
  Recording const recording;
  std::string const page = recording.folder / "page.html", log = recording.folder / "log.csv",
                    best = recording.folder / "best.juice";
  std::string const text =
      output(recording.with({"--epochs", "12", "--html", page, "--log", log, "--keep-best", best}));
  INFO(text);
  CHECK(contains(text, "the output comes 40 samples (0.83 ms) after the input"));
  CHECK(contains(text, "835 parameters"));
  double const ratio = last(text, "Error to signal ratio ");
  CHECK(ratio < 0.5);
  CHECK(contains(content(log), "validation/esr"));
  CHECK(contains(content(page), "what the model makes of it"));
  CHECK(contains(content(page), "architecture a1-nano"));

  // The model is the best one, for a stream of single samples; what it makes of the end is as good as was said.
  for (std::string const& path : {recording.save, best}) {
    auto model = dynamic::Layer::load(dynamic::Backend{}, path);
    CHECK(model.input_shape() == Shape{1});
    CHECK(model.output_shape() == Shape{1});
    double error = 0, signal = 0;
    for (std::size_t i = 0; i < recording.input.size() - 40; ++i) {
      double const y = static_cast<double>(model.step(std::span{recording.input}.subspan(i, 1))[0]);
      double const t = static_cast<double>(0.5f * std::tanh(2 * recording.input[i]));
      if (i < recording.input.size() / 2) continue;
      error += (y - t) * (y - t), signal += t * t;
    }
    CHECK(error / signal == Approx(ratio).epsilon(0.2));
  }
}

TEST_CASE("a model is saved as a .nam file that plays as the .juice file of the same training") {
  if (!has_command()) return;
  if (!convert::has_nam()) {
    WARN("skipped: coldpress::convert was built without nlohmann-json");
    return;
  }
  Recording const recording;
  std::string const path = recording.folder / "Bright \"7\".nam", best = recording.folder / "best.nam";
  std::string const text = output(recording.with({"--epochs", "2", "--save", path, "--keep-best", best}));
  output(recording.with({"--epochs", "2"}));
  auto const read = convert::read_nam(path);
  auto file = persist::layer_of(dynamic::Backend{}, read.model),
       juice = dynamic::Layer::load(dynamic::Backend{}, recording.save),
       kept = persist::layer_of(dynamic::Backend{}, convert::read_nam(best).model);
  for (std::size_t i = 0; i < 6000; ++i) {
    auto const x = std::span{recording.input}.subspan(i, 1);
    float const y = juice.step(x)[0];
    REQUIRE(file.step(x)[0] == y);
    REQUIRE(kept.step(x)[0] == y);
  }

  CHECK(read.metadata.version == "0.5.4");
  CHECK(read.metadata.name == "Bright \"7\"");
  CHECK(read.metadata.sample_rate == 48000);
  double squares = 0;
  std::size_t const steps = recording.input.size() - 40;  // without the delay
  for (std::size_t i = 0; i < steps; ++i)
    squares += std::pow(0.5 * std::tanh(2 * static_cast<double>(recording.input[i])), 2);
  REQUIRE(read.metadata.loudness);
  CHECK(*read.metadata.loudness == Approx(10 * std::log10(squares / static_cast<double>(steps))).epsilon(1e-3));
  CHECK(last(read.metadata.others, "\"validation_esr\":") ==
        Approx(last(text, "Error to signal ratio ")).epsilon(1e-3));
}

TEST_CASE("a trained model in a .juice file says what a .nam file does") {
  if (!has_command()) return;
  Recording const recording;
  std::string const text = output(recording.with({"--epochs", "1"}));
  auto const said = convert::nam_metadata_of(persist::read_model(recording.save));
  CHECK(said.sample_rate == 48000);
  CHECK(said.name == std::filesystem::path{recording.save}.stem().string());
  CHECK(said.loudness.has_value());
  CHECK(last(said.others, "\"validation_esr\":") == Approx(last(text, "Error to signal ratio ")).epsilon(1e-3));
}

TEST_CASE("an interrupted training of a model goes on as if nothing had happened") {
  if (!has_command()) return;
  Recording const recording;
  std::string const checkpoint = recording.folder / "run";
  output(recording.with({"--epochs", "3"}));
  std::string const whole = content(recording.save);
  output(recording.with({"--epochs", "1", "--checkpoint", checkpoint}));
  CHECK(content(recording.save) != whole);
  output(recording.with({"--epochs", "3", "--resume", checkpoint}));
  CHECK(content(recording.save) == whole);
  output(recording.with({"--epochs", "3", "--threads", "1"}));
  CHECK(content(recording.save) == whole);

  auto const refused = [&](std::vector<std::string> const& more) {
    auto arguments = recording.with({"--resume", checkpoint, "--epochs", "3"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    Result const result = run(arguments);
    CHECK(result.code == 1);
    return result.err;
  };
  CHECK(contains(refused({"--delay", "7"}), "was made with other segments"));
  CHECK(contains(refused({"--seed", "7"}), "was made with seed 0"));
  CHECK(contains(refused({"--ratio", "1"}), "is of another network"));
  CHECK(contains(refused({"--rate", "0.1"}), "rate"));
  std::string const in = recording.folder / "slow_in.wav", out = recording.folder / "slow_out.wav";
  for (auto const& [from, to] : {std::pair{recording.in, in}, {recording.out, out}}) {
    data::Sound sound = data::read_sound(from);
    sound.sample_rate = 44100;
    data::write_sound(to, sound);
  }
  CHECK(failure(recording.with({"--resume", checkpoint, "--epochs", "3", "--input", in, "--output", out})) ==
        checkpoint + ": was made of sounds at 48000 Hz, but " + in + " and " + out + " are at 44100 Hz");
}

TEST_CASE("all losses train, and none is a mistake") {
  if (!has_command()) return;
  Recording const recording;
  std::string const text = output(recording.with(
      {"--epochs", "2", "--squares", "0", "--ratio", "1", "--pre-emphasis", "0.85", "--spectra", "0.001"}));
  CHECK(contains(text, "epoch 2/2  loss "));
  Result const none = run(recording.with({"--squares", "0"}));
  CHECK(none.code == 2);
  CHECK(contains(none.err, "nothing to learn from"));
}

TEST_CASE("the reference trains a model with the default number of threads") {
  if (!has_command()) return;
  Recording const recording;
  output(recording.with({"--epochs", "1", "--backend", "cpu:reference"}));
  CHECK(std::filesystem::exists(recording.save));
}

TEST_CASE("what makes no pair is said before anything is written") {
  if (!has_command()) return;
  Recording const recording;
  std::string const other = recording.folder / "other.wav";
  data::write_sound(other, {44100, 1, std::vector<float>(12000, 0.5f)});
  auto const said = [&](std::vector<std::string> arguments, int code = 1) {
    Result const result = run(std::move(arguments));
    CHECK(result.code == code);
    CHECK_FALSE(std::filesystem::exists(recording.save));
    return result.err;
  };
  for (std::string const option : {"--save", "--keep-best"}) {
    CHECK(contains(said(recording.with({option, recording.folder / "my.wav"}), 2),
                   "my.wav' ends as sounds do; the network is saved as .juice, .nam, and coldpress convert"));
  }
  for (std::string const name : {"my.xyz", "my", "my.JUICE"}) {
    for (std::string const option : {"--save", "--keep-best"}) {
      CHECK(contains(said(recording.with({option, recording.folder / name}), 2),
                     option + ": the ending of '" + recording.folder / name +
                         "' is that of no known format (endings are in lower case); the network is saved as .juice, .nam, and coldpress convert"));
    }
  }
  CHECK(contains(said(recording.with({"--save", recording.in}), 2), "would overwrite"));
  auto const arguments = recording.with({"--output", other});
  CHECK(contains(said(arguments), "in.wav has 48,000 Hz"));
  data::write_sound(other, {48000, 1, std::vector<float>(12000)});
  CHECK(contains(said(arguments), "no delay of at most 12000 samples was found between " + recording.in + " and " +
                                      other +
                                      ": the second does not seem to follow from the first. With --delay N, it"));
  CHECK(contains(said(recording.with({"--output", other, "--delay", "0"})),
                 other + ": is silent, so that there is nothing to learn from"));
  data::Sound fading{.values = recording.input};
  std::fill(fading.values.begin() + 8000, fading.values.end(), 0.0f);
  data::write_sound(other, fading);
  CHECK(contains(said(recording.with({"--output", other, "--delay", "0"})),
                 other + ": is silent in the part that is held out, so that no model can be judged by it"));
  CHECK(contains(said(recording.with({"--output", recording.folder / "missing.wav"})), "missing.wav"));
  CHECK(contains(said(recording.with({"--segment", "20000"})), "needs 2"));
  CHECK(contains(said(recording.with({"--validate", "0.0001"})), "leaves one of the parts empty"));
  CHECK(contains(said(recording.with({"--architecture", "a9"}), 2), "a9"));
  CHECK(contains(said(recording.with({"--delay", "12000"})), "leaves nothing"));
}

}  // namespace coldpress::command
