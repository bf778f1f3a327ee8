// Checks that a data set has a target for each sample, and splits it at random into two.
#include <coldpress/data/dataset.hpp>

#include "held_out.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/sample_stream.hpp>

namespace coldpress::data {
void check(Dataset const& dataset) {
  auto const rows = [](std::vector<float> const& values, Shape const& shape, std::string const& what) {
    auto const size = static_cast<std::size_t>(shape.size());
    if (size == 0 || values.empty() || values.size() % size != 0)
      throw ShapeError{"the dataset has " + counted(values.size(), "value") + " of " + what +
                       ", expected a multiple of " + to_string(shape)};
    return values.size() / size;
  };
  auto const samples = rows(dataset.samples, dataset.sample_shape, "samples");
  if (dataset.target_shape == Shape{} && dataset.targets.empty()) return;
  auto const targets = rows(dataset.targets, dataset.target_shape, "targets");
  if (samples != targets)
    throw ShapeError{"the dataset has " + counted(samples, "sample") + " and " + counted(targets, "target")};
}

Split split(Dataset const& dataset, double fraction, std::uint64_t seed) {
  check(dataset);
  auto const size = static_cast<std::size_t>(dataset.size());
  auto const held_out = static_cast<std::size_t>(held_out_count(dataset.size(), fraction));
  std::vector<Index> order(size);
  shuffle(order, seed, epoch_of_splits);
  auto const gather = [&](std::span<Index const> rows) {
    Dataset part{dataset.sample_shape, dataset.target_shape, {}, {}, dataset.classes};
    part.samples.reserve(rows.size() * static_cast<std::size_t>(dataset.sample_shape.size()));
    part.targets.reserve(rows.size() * static_cast<std::size_t>(dataset.target_shape.size()));
    for (Index const row : rows) {
      auto const sample = dataset.sample(row), target = dataset.target(row);
      part.samples.insert(part.samples.end(), sample.begin(), sample.end());
      part.targets.insert(part.targets.end(), target.begin(), target.end());
    }
    return part;
  };
  return {gather(std::span{order}.subspan(held_out)), gather(std::span{order}.first(held_out))};
}

}  // namespace coldpress::data
