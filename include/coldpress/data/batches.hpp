// Minibatches whose position in the data is two numbers, so that a checkpoint can resume them.
#pragma once

#include <coldpress/data/sample_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace coldpress::data {

/// The minibatches up to the end of an epoch: for (auto const& batch : batches.epoch()) ...
template <class AnyBatches>
class Epoch {
 public:
  class Iterator {
   public:
    explicit Iterator(AnyBatches* batches) : batches_(batches), batch_(batches->next()) {}
    auto const& operator*() const { return batch_; }
    Iterator& operator++() {
      if (batch_.ends_epoch) {
        batches_ = nullptr;
      } else {
        batch_ = batches_->next();
      }
      return *this;
    }
    bool operator==(std::nullptr_t) const { return !batches_; }

   private:
    AnyBatches* batches_;
    typename AnyBatches::Batch batch_;
  };
  explicit Epoch(AnyBatches& batches) : batches_(&batches) {}
  Iterator begin() const { return Iterator{batches_}; }
  std::nullptr_t end() const { return nullptr; }

 private:
  AnyBatches* batches_;
};

/// Iterates over a data set again and again. The last batch of an epoch may be smaller. All memory is allocated by the
/// constructor.
class Batches {
 public:
  using Position = SampleStream::Position;
  /// Some samples of a minibatch, one after another.
  struct Part {
    Index first, count;
  };
  /// Returns the part that is read of a minibatch of `size` samples.
  using PartOf = std::function<Part(Index size)>;
  struct Batch {
    Index size;                               // in samples
    std::span<float const> samples, targets;  // row-major, valid until the next call
    Position position;                        // of the batch's first sample
    bool ends_epoch;
    Part read;  // what was read; the other samples are zeros, or those of earlier minibatches
  };

  /// Shuffled minibatches of a data set in memory, which must outlive this. Throws ConfigError for a `batch` below 1,
  /// and what check(dataset) throws.
  Batches(Dataset const& dataset, Index batch, std::uint64_t seed);
  Batches(Dataset const&&, Index, std::uint64_t) = delete;
  /// Minibatches of any samples, in the order of the stream: Batches{shuffled(source, seed), 64}. With `part`, no more
  /// than that part of each is read, because other processes read the rest. A `batch` above the size of an epoch
  /// becomes that size. Throws ConfigError for a `batch` below 1, and ShapeError for a stream without samples.
  Batches(std::unique_ptr<SampleStream> stream, Index batch, PartOf part = {});

  /// Throws what the stream throws; the next call then tries the same batch again.
  Batch next();
  /// The same in memory of the caller, which must have room for batch_size() samples and their targets.
  Batch next(float* samples, float* targets);
  Epoch<Batches> epoch() { return Epoch<Batches>{*this}; }
  /// From now on, each batch is read as a whole.
  void read_whole() { part_ = {}; }
  /// The position of the next batch.
  Position position() const { return position_; }
  /// Throws ConfigError if the offset is outside the data set.
  void seek(Position position);

  Index batch_size() const { return batch_; }
  SampleStream const& stream() const { return *stream_; }

 private:
  std::unique_ptr<Source> source_;  // the stream's, if this made it
  std::unique_ptr<SampleStream> stream_;
  Index batch_;
  PartOf part_;
  Position position_;
  std::optional<Position> stream_at_;  // what the stream reads next, if that is known
  std::vector<float> samples_, targets_;
};

}  // namespace coldpress::data
