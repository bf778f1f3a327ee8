// Cuts a stream of samples into minibatches, of which a rank may read its part alone, and seeks to a position.
#include <coldpress/data/batches.hpp>

#include <algorithm>
#include <utility>

namespace coldpress::data {

Batches::Batches(std::unique_ptr<SampleStream> stream, Index batch, PartOf part)
    : stream_(std::move(stream)), batch_(batch), part_(std::move(part)) {
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
  Part const part = part_ ? part_(size) : Part{0, size};
  auto const after = [&](Index samples_of_batch) {
    Index const offset = start.offset + samples_of_batch;
    return offset == all ? Position{start.epoch + 1, 0} : Position{start.epoch, offset};
  };
  Index const sample = stream_->sample_shape().size(), target = stream_->target_shape().size();
  if (part.count > 0) {
    Position const first = after(part.first);
    if (stream_at_ != first) stream_->seek(first);
    stream_at_.reset();
    stream_->read(part.count, samples + part.first * sample, targets + part.first * target);
    stream_at_ = after(part.first + part.count);
  }
  position_ = after(size);
  auto const values = [&](Index of_each) { return static_cast<std::size_t>(size * of_each); };
  return {size, {samples, values(sample)}, {targets, values(target)}, start, start.offset + size == all, part};
}

void Batches::seek(Position position) {
  if (position.offset < 0 || position.offset >= stream_->size())
    throw ConfigError{"the position in the data is " + std::to_string(position.offset) + ", but there are " +
                      std::to_string(stream_->size()) + " samples"};
  position_ = position;
}

}  // namespace coldpress::data
