// coldpress stream: plays a signal through a network, block by block.

#include "commands.hpp"
#include "print.hpp"
#include "streamed.hpp"
#include "writable.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/network_transforms.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/sound.hpp>
#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coldpress::command {
namespace {

struct StreamOptions : StreamedModel {
  std::string input, output, backend = "cpu";
  data::SoundFormat format = data::SoundFormat::float32;
};

/// A signal: the values of one step after another, which are finite.
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
  auto const steps = data::open_npy(path);
  if (Index const found = steps->sample_shape().size(); found != features) refuse_features(found);
  return {data::load(*steps).samples, {}};
}
void write_signal(StreamOptions const& options, std::vector<float> values, Index features,
                  std::optional<double> sample_rate) {
  if (options.output.ends_with(".wav")) {
    auto const rate = static_cast<Index>(std::lround(sample_rate.value_or(48000)));
    return data::write_sound(options.output, {.sample_rate = rate, .channels = features, .values = std::move(values)},
                             options.format);
  }
  Index const extents[] = {static_cast<Index>(values.size()) / features, features};
  data::write_npy(options.output, std::span{extents}.first(features == 1 ? 1 : 2), values);
}

CLI::Validator ends_as_signal() {
  return {[](std::string& path) {
            bool const known = path.ends_with(".wav") || path.ends_with(".npy");
            return known ? std::string{}
                         : "must end in .wav or .npy, which say the format, is '" + persist::printable(path) + "'";
          },
          ""};
}

void stream(StreamOptions const& options) {
  Files files;
  files.reads("--model", options.model), files.reads("--input", options.input);
  files.writes("--output", options.output);
  files.check_writable();
  Streamed const played = open_streamed(options, dynamic::Backend{options.backend});
  with_context([&] { data::check_plays(played.transforms); }, [&](Error& error) { error.in_file(options.model); });
  SignalFile const signal = read_signal(options.input, played.in());
  auto const rate = signal.sample_rate;
  if (rate && played.sample_rate && *rate != *played.sample_rate) {
    throw DataError{"'" + options.input + "' has " + to_string(static_cast<float>(*rate)) +
                    " samples per second, the model was made for " +
                    to_string(static_cast<float>(*played.sample_rate))};
  }
  dynamic::Stream through = stream_of(played, options);
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

}  // namespace

void add_stream(CLI::App& app) {
  auto const options = std::make_shared<StreamOptions>();
  auto* const command = app.add_subcommand("stream", "Plays a signal through a network, block by block");
  add_streamed(*command, *options);
  command->add_option("--backend", options->backend, "cpu; cpu:v2, cpu:v3 or cpu:v4 for an instruction set level")
      ->type_name(name)
      ->capture_default_str();
  command->add_option("--input", options->input, "The signal: .wav, or .npy with the values of a step in each row")
      ->type_name(file)
      ->required();
  command->add_option("--output", options->output, "Where the output goes: .wav or .npy")
      ->type_name(file)
      ->required()
      ->check(ends_as_signal());
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

}  // namespace coldpress::command
