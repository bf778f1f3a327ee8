// Reads a model from a file, checks that it takes and gives one value per step, and plays it block by block.
#include <coldpress/audio/playable_model.hpp>
#include "check_sound.hpp"
#include "resampling.hpp"

#include <coldpress/core/flush_denormals.hpp>
#include <coldpress/data/network_transforms.hpp>
#include <coldpress/persist/network.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace coldpress::audio {

namespace {

constexpr double nam_sample_rate = 48000;  // of a .nam file that does not say it

bool is_nam(std::string const& path) {
  std::string ending = std::filesystem::path{path}.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".nam";
}
convert::NamModel read(std::string const& path, PlayOptions const& options) {
  bool const nam = is_nam(path);
  auto all =
      nam ? convert::read_nam(path, {.size = options.size}) : convert::NamModel{.model = persist::read_model(path)};
  if (!nam) all.metadata = convert::nam_metadata_of(all.model);
  if (!all.metadata.version.empty() && !all.metadata.sample_rate) all.metadata.sample_rate = nam_sample_rate;
  return all;
}

dynamic::Layer network_of(persist::Model const& model) {
  data::check_plays(model.transforms);
  dynamic::Backend const cpu{"cpu"};
  auto network = persist::layer_of(cpu, model);
  // A network that was trained on sequences is played step by step.
  if (network.input_shapes().size() == 1 && network.input_shape().rank() == 2 && network.input_shape()[1] == 1)
    network = persist::layer_of(cpu, model, Shape{1});
  if (network.input_shapes().size() != 1 || network.output_shapes().size() != 1 || network.input_shape().size() != 1 ||
      network.output_shape().size() != 1)
    refuse("play: the network has ", network.input_shapes().size(), " inputs and ", network.output_shapes().size(),
           " outputs, the first of ", network.input_shape(), " and of ", network.output_shape(),
           "; expected one value in and one out for each step of sound");
  return network;
}

/// The most samples that the network gets at once.
Index most_inside(PlayOptions const& options, Resampling const* resampling) {
  return resampling ? resampling->most_inside() : options.most;
}
std::unique_ptr<Resampling> resampling_for(convert::NamMetadata const& metadata, PlayOptions const& options) {
  check_sound(options.sample_rate, options.most);
  double const outer = options.sample_rate, inner = metadata.sample_rate.value_or(outer);
  check_rate("the sample rate of the model", inner);
  if (inner == outer) return nullptr;
  return std::make_unique<Resampling>(outer, inner, options.most);
}

}  // namespace

PlayableModel::PlayableModel(std::string const& path, PlayOptions const& options)
    : PlayableModel(path, options, with_file(path, [&] { return read(path, options); })) {}

PlayableModel::PlayableModel(std::string const& path, PlayOptions const& options, convert::NamModel const& read)
    : path_(path),
      metadata_(read.metadata),
      resampling_(with_file(path, [&] { return resampling_for(metadata_, options); })),
      network_(with_file(path, [&] { return network_of(read.model); })),
      stream_(with_file(path,
                        [&] {
                          return dynamic::Stream{network_, most_inside(options, resampling_.get())};
                        })),
      sample_rate_(metadata_.sample_rate.value_or(options.sample_rate)),
      past_(stream_.past()),
      most_(options.most) {
  with_file(path, [&] { settle(); });
}
PlayableModel::~PlayableModel() = default;

void PlayableModel::settle() {
  check_range("the loudness of the model", metadata_.loudness.value_or(0), -120, 60, " dB");
  FlushDenormals const guard;
  stream_.warm_up();
  settled_.assign(stream_.state().begin(), stream_.state().end());
  float const silence = 0;
  float y = 0;
  stream_.process({&silence, 1}, {&y, 1});
  if (!std::isfinite(y)) throw DataError{"what the network makes of silence is not finite"};
  reset();
}

void PlayableModel::reset() {
  stream_.restore(settled_);
  if (!resampling_) return;
  // The output of the network for silence need not be zero. The converters are given it, too, until they hold nothing
  // else.
  resampling_->reset();
  float const silence = 0;
  float y = 0;
  for (Index t = 0; t < 2 * latency(); ++t) play({&silence, 1}, {&y, 1});
}

void PlayableModel::play(std::span<float const> x, std::span<float> y) {
  if (resampling_) {
    resampling_->process(x, y, [&](auto in, auto out) { stream_.process(in, out); });
  } else {
    stream_.process(x, y);
  }
}

void PlayableModel::process(std::span<float const> x, std::span<float> y) {
  if (x.size() != y.size()) refuse("play: got ", x.size(), " samples in and ", y.size(), " out, expected equally many");
  FlushDenormals const guard;
  auto const most = static_cast<std::size_t>(most_);
  for (std::size_t first = 0; first < x.size(); first += most) {
    std::size_t const count = std::min(most, x.size() - first);
    auto const out = y.subspan(first, count);
    play(x.subspan(first, count), out);
    if (std::ranges::all_of(out, [](float value) { return std::isfinite(value); })) continue;
    std::ranges::fill(out, 0.f);
    reset();
  }
}

Index PlayableModel::latency() const { return resampling_ ? resampling_->latency() : 0; }

float PlayableModel::level(double loudness) const {
  return metadata_.loudness ? static_cast<float>(std::pow(10, (loudness - *metadata_.loudness) / 20)) : 1.f;
}

}  // namespace coldpress::audio
