#include <coldpress/data/batches.hpp>

#include <coldpress/core/random.hpp>

#include <algorithm>
#include <numeric>

namespace coldpress::data {

void shuffle(std::span<Index> order, std::uint64_t seed, std::uint64_t epoch) {
  std::iota(order.begin(), order.end(), Index{0});
  Stream const stream{seed, 0, "batches"};
  for (std::size_t i = order.size(); i > 1; --i) {
    auto const block = stream.block(i - 1, epoch);
    // The remainder of 64 bits favours no place by more than a factor of 1 + size / 2^64.
    std::uint64_t const draw = (std::uint64_t{block.words[1]} << 32 | block.words[0]) % i;
    std::swap(order[i - 1], order[draw]);
  }
}

Batches::Batches(Dataset const& dataset, Index batch, std::uint64_t seed)
    : dataset_(&dataset), batch_(batch), seed_(seed) {
  check(dataset);
  if (batch < 1) throw ConfigError{"the batch size is " + std::to_string(batch) + ", expected at least 1"};
  batch_ = std::min(batch, dataset.size());
  order_.resize(static_cast<std::size_t>(dataset.size()));
  samples_.resize(static_cast<std::size_t>(batch_ * dataset.sample_shape.size()));
  targets_.resize(static_cast<std::size_t>(batch_ * dataset.target_shape.size()));
  shuffle(order_, seed_, 0);
}

Batches::Batch Batches::next() {
  if (shuffled_epoch_ != position_.epoch) {
    shuffle(order_, seed_, position_.epoch);
    shuffled_epoch_ = position_.epoch;
  }
  Position const start = position_;
  Index const size = std::min(batch_, dataset_->size() - start.offset);
  float *sample = samples_.data(), *target = targets_.data();
  for (Index i = start.offset; i < start.offset + size; ++i) {
    Index const from = order_[static_cast<std::size_t>(i)];
    sample = std::ranges::copy(dataset_->sample(from), sample).out;
    target = std::ranges::copy(dataset_->target(from), target).out;
  }
  bool const ends_epoch = start.offset + size == dataset_->size();
  position_ = ends_epoch ? Position{start.epoch + 1, 0} : Position{start.epoch, start.offset + size};
  return {size, {samples_.data(), sample}, {targets_.data(), target}, start, ends_epoch};
}

void Batches::seek(Position position) {
  if (position.offset < 0 || position.offset >= dataset_->size())
    throw ConfigError{"the position in the data is " + std::to_string(position.offset) + ", but there are " +
                      std::to_string(dataset_->size()) + " samples"};
  position_ = position;
}

}  // namespace coldpress::data
