// coldpress stream and coldpress bench: a signal through a network, block by block, and how fast that is.

#include "commands.hpp"
#include "options.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/sound.hpp>
#include <coldpress/dynamic/stream.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace coldpress::command {
namespace {

struct Options {
  std::string model, input, output;
  double size = 1, seconds = 2;
  Index block = 64;
  Computing computing;
  data::SoundFormat format = data::SoundFormat::float32;
};

/// A network whose samples are single steps, and the sample rate that it was made for, if its file says so.
struct Played {
  dynamic::Layer network;
  std::optional<double> sample_rate;
  Index in() const { return network.input_shape().size(); }
  Index out() const { return network.output_shape().size(); }
};
Played open_model(Options const& options) {
  bool const nam = options.model.ends_with(".nam");
  auto read = nam ? convert::read_nam(options.model, {.size = options.size})
                  : convert::NamModel{.model = convert::read_network(options.model).model};
  return with_context(
      [&] {
        dynamic::Backend const backend = options.computing.open();
        auto network = persist::layer_of(backend, read.model);
        Shape const in = network.input_shape();
        if (in.rank() == 2 && in[0] > 1) network = persist::layer_of(backend, read.model, Shape{in[1]});
        return Played{std::move(network), convert::nam_metadata_of(read.model).sample_rate};
      },
      [&](Error& error) { error.in_file(options.model); });
}

/// A signal: the values of one step after another.
struct SignalFile {
  std::vector<float> values;
  std::optional<double> sample_rate;
};
SignalFile read_signal(std::string const& path, Index features) {
  auto const refuse_features = [&](Index found) {
    throw DataError{"'" + path + "' has " + counted(found, "value") + " per step, the network takes " +
                    std::to_string(features)};
  };
  if (path.ends_with(".wav")) {
    data::Sound sound = data::read_sound(path);
    if (sound.channels != features) refuse_features(sound.channels);
    return {std::move(sound.values), static_cast<double>(sound.sample_rate)};
  }
  data::NpyArray array = data::read_npy(path);
  Index const steps = array.extents.empty() ? 1 : array.extents[0], all = static_cast<Index>(array.values.size());
  if (steps == 0) throw DataError{"'" + path + "' has no steps"};
  if (all != steps * features) refuse_features(all / steps);
  return {std::move(array.values), {}};
}
void write_signal(Options const& options, std::vector<float> values, Index features,
                  std::optional<double> sample_rate) {
  if (options.output.ends_with(".wav")) {
    auto const rate = static_cast<Index>(std::lround(sample_rate.value_or(48000)));
    return data::write_sound(options.output, {.sample_rate = rate, .channels = features, .values = std::move(values)},
                             options.format);
  }
  Index const extents[] = {static_cast<Index>(values.size()) / features, features};
  data::write_npy(options.output, std::span{extents}.first(features == 1 ? 1 : 2), values);
}

void stream(Options const& options) {
  Files files;
  files.reads("--model", options.model), files.reads("--input", options.input);
  files.writes("--output", options.output);
  files.check_writable();
  Played const played = open_model(options);
  SignalFile const signal = read_signal(options.input, played.in());
  auto const rate = signal.sample_rate;
  if (rate && played.sample_rate && *rate != *played.sample_rate) {
    throw DataError{"'" + options.input + "' has " + to_string(static_cast<float>(*rate)) +
                    " samples per second, the model was made for " +
                    to_string(static_cast<float>(*played.sample_rate))};
  }
  dynamic::Stream through{played.network, options.block};
  Index const settled = through.warm_up(), steps = static_cast<Index>(signal.values.size()) / played.in();
  std::vector<float> y(static_cast<std::size_t>(steps * played.out()));
  for (Index first = 0; first < steps; first += options.block) {
    Index const count = std::min(options.block, steps - first);
    auto const part = [&](auto& values, Index features) {
      return std::span{values.data() + first * features, static_cast<std::size_t>(count * features)};
    };
    through.process(part(signal.values, played.in()), part(y, played.out()));
  }
  write_signal(options, std::move(y), played.out(), rate ? rate : played.sample_rate);
  std::printf("%s, after %td of silence, written to ", counted(steps, "step").c_str(), settled);
  show(options.output, stdout);
}

void bench(Options const& options) {
  Played const played = open_model(options);
  dynamic::Stream through{played.network, options.block};
  through.warm_up();
  // Noise that swells: it is neither silence nor the same from block to block.
  std::vector<float> x(static_cast<std::size_t>(played.in() * options.block * 256));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (RandomStream{1}.uniform(i) - 0.5f) * (0.5f + 0.5f * std::sin(static_cast<float>(i) * 1e-3f));
  std::vector<float> y(static_cast<std::size_t>(played.out() * options.block));
  std::vector<double> times;
  using Clock = std::chrono::steady_clock;
  auto const end = Clock::now() + std::chrono::duration<double>(options.seconds);
  std::size_t const size = x.size() / 256;
  times.reserve(1 << 20);
  for (std::size_t n = 0; (Clock::now() < end || n < 100) && times.size() < times.capacity(); ++n) {
    auto const before = Clock::now();
    through.process({x.data() + n % 256 * size, size}, y);
    times.push_back(std::chrono::duration<double>(Clock::now() - before).count());
  }
  std::ranges::sort(times);
  double const median = times[times.size() / 2], rate = played.sample_rate.value_or(48000);
  std::printf("blocks of %s: %.2f us each (median; %.2f us at least, %.2f us in 999 of 1,000 calls)\n",
              counted(options.block, "step").c_str(), median * 1e6, times[0] * 1e6,
              times[times.size() * 999 / 1000] * 1e6);
  std::printf("%.1f times as fast as real time at %.0f steps per second\n",
              static_cast<double>(options.block) / rate / median, rate);
}

void add_model(CLI::App& command, Options& options) {
  command.add_option("--model", options.model, "File of the network: .nam, or of coldpress, Juice, RTNeural or others")
      ->type_name(file)
      ->required();
  command.add_option("--size", options.size, "Which network of a .nam file with several, from 0 to 1; 1: the greatest")
      ->type_name(number)
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->capture_default_str();
  command.add_option("--block", options.block, "Steps computed at once, which do not change the output")
      ->type_name(number)
      ->check(CLI::Range(Index{1}, Index{1} << 20).description(""))
      ->capture_default_str();
  command
      .add_option("--backend", options.computing.backend, "cpu; cpu:v2, cpu:v3 or cpu:v4 for an instruction set level")
      ->type_name(name)
      ->capture_default_str();
}

}  // namespace

void add_stream(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("stream", "Plays a signal through a network, block by block");
  add_model(*command, *options);
  command->add_option("--input", options->input, "The signal: .wav, or .npy with the values of a step in each row")
      ->type_name(file)
      ->required();
  command->add_option("--output", options->output, "Where the output goes: .wav or .npy")->type_name(file)->required();
  auto const spelt = spellings(options->format);
  std::vector<std::string> const names(spelt.begin(), spelt.end());
  command
      ->add_option_function<std::string>(
          "--format",
          [names, options](std::string const& chosen) {
            options->format = static_cast<data::SoundFormat>(std::ranges::find(names, chosen) - names.begin());
          },
          "How a .wav file stores values: " + joined(names))
      ->type_name(name)
      ->check(one_of(names))
      ->default_str("float32");
  command->footer(
      "The network first gets silence until that has no more effect.\n"
      "Example: coldpress stream --model my.nam --input guitar.wav --output amplifier.wav");
  command->callback([options] { stream(*options); });
}

void add_bench(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("bench", "Says how fast a network streams a signal, on one core");
  add_model(*command, *options);
  command->add_option("--seconds", options->seconds, "How long to measure")
      ->type_name(number)
      ->check(CLI::Range(0.01, 3600.0).description(""))
      ->capture_default_str();
  command->callback([options] { bench(*options); });
}

}  // namespace coldpress::command
