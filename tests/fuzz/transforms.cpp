// Transforms of a training config: what can be read is fitted to samples, and applied as evaluation and training do.
#include <coldpress/data/transform.hpp>
#include <coldpress/persist/training.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  auto const transforms = persist::read_training(file.path()).transforms;
  if (!data::files_of(transforms).empty()) return;  // it would be any file of this machine
  data::Dataset dataset{.sample_shape = {2, 4, 5}, .target_shape = {1}, .samples = {}, .targets = {0, 1, 1}};
  for (int i = 0; i < 3 * 40; ++i) dataset.samples.push_back(static_cast<float>(i * 7 % 13));
  auto const source = data::borrow(dataset);
  auto const fitted = data::fit(transforms, *source);
  demand(data::fit(fitted, *source) == fitted, "what is fitted is fitted again");
  auto const seen = data::transformed(*source, fitted);
  if (seen->target_shape().size() > 1 << 20) return;  // which takes long
  demand(seen->size() == 3, "a sample is missing");
  data::load(*seen);
  auto const stream = data::augmented(data::shuffled(*source, 1), fitted, 2);
  std::vector<float> samples(static_cast<std::size_t>(3 * stream->sample_shape().size()));
  std::vector<float> targets(static_cast<std::size_t>(3 * stream->target_shape().size()));
  stream->read(3, samples.data(), targets.data());
}
