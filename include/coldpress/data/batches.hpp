// Shuffled minibatches whose position in the data is two numbers, so that a checkpoint can resume them.
#pragma once

#include <coldpress/data/dataset.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace coldpress::data {

/// Fills `order` with 0, 1, ... in a random order that depends on its size, `seed` and `epoch` alone.
void shuffle(std::span<Index> order, std::uint64_t seed, std::uint64_t epoch);

/// Iterates over a dataset again and again, in a different order each epoch. The last batch of an epoch may be smaller.
/// All memory is allocated by the constructor.
class Batches {
 public:
  /// `offset` is the number of samples of the epoch that were already returned.
  struct Position {
    std::uint64_t epoch = 0;
    Index offset = 0;
    bool operator==(Position const&) const = default;
  };
  struct Batch {
    Index size;                               // in samples
    std::span<float const> samples, targets;  // row-major, valid until the next call
    Position position;                        // of the batch's first sample
    bool ends_epoch;
  };

  /// `dataset` must outlive this. Throws ConfigError for a `batch` below 1, and what check(dataset) throws.
  Batches(Dataset const& dataset, Index batch, std::uint64_t seed);
  Batches(Dataset const&&, Index, std::uint64_t) = delete;

  Batch next();
  /// The minibatches from here to the end of the epoch: for (auto const& batch : batches.epoch()) ...
  class Epoch;
  Epoch epoch();
  /// The position of the next batch.
  Position position() const { return position_; }
  /// Throws ConfigError if the offset is outside the dataset.
  void seek(Position position);

 private:
  Dataset const* dataset_;
  Index batch_;
  std::uint64_t seed_, shuffled_epoch_ = 0;
  Position position_;
  std::vector<Index> order_;
  std::vector<float> samples_, targets_;
};

class Batches::Epoch {
 public:
  class Iterator {
   public:
    explicit Iterator(Batches* batches) : batches_(batches), batch_(batches->next()) {}
    Batch const& operator*() const { return batch_; }
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
    Batches* batches_;
    Batch batch_;
  };
  explicit Epoch(Batches& batches) : batches_(&batches) {}
  Iterator begin() const { return Iterator{batches_}; }
  std::nullptr_t end() const { return nullptr; }

 private:
  Batches* batches_;
};
inline Batches::Epoch Batches::epoch() { return Epoch{*this}; }

}  // namespace coldpress::data
