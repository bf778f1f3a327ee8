#include <coldpress/data/batches.hpp>

#include <algorithm>
#include <utility>

namespace coldpress::data {

Batches::Batches(std::unique_ptr<SampleStream> stream, Index batch) : stream_(std::move(stream)), batch_(batch) {
  if (batch < 1) throw ConfigError{"the batch size is " + std::to_string(batch) + ", expected at least 1"};
  if (stream_->size() < 1) throw ShapeError{"the data set has no samples"};
  batch_ = std::min(batch, stream_->size());
  samples_.resize(static_cast<std::size_t>(batch_ * stream_->sample_shape().size()));
  targets_.resize(static_cast<std::size_t>(batch_ * stream_->target_shape().size()));
}

Batches::Batches(Dataset const& dataset, Index batch, std::uint64_t seed) {
  auto source = borrow(dataset);
  *this = Batches{shuffled(*source, seed), batch};
  source_ = std::move(source);
}

Batches::Batch Batches::next() { return next(samples_.data(), targets_.data()); }

Batches::Batch Batches::next(float* samples, float* targets) {
  Position const start = position_;
  Index const all = stream_->size(), size = std::min(batch_, all - start.offset);
  if (!in_place_) stream_->seek(start);
  in_place_ = false;
  stream_->read(size, samples, targets);
  in_place_ = true;
  bool const ends_epoch = start.offset + size == all;
  position_ = ends_epoch ? Position{start.epoch + 1, 0} : Position{start.epoch, start.offset + size};
  auto const values = [&](Shape const& shape) { return static_cast<std::size_t>(size * shape.size()); };
  return {
      size, {samples, values(stream_->sample_shape())}, {targets, values(stream_->target_shape())}, start, ends_epoch};
}

void Batches::seek(Position position) {
  if (position.offset < 0 || position.offset >= stream_->size())
    throw ConfigError{"the position in the data is " + std::to_string(position.offset) + ", but there are " +
                      std::to_string(stream_->size()) + " samples"};
  position_ = position;
  in_place_ = false;
}

}  // namespace coldpress::data
