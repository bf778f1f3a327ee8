// The samples of a data set one after another, epoch after epoch.
#pragma once

#include <coldpress/data/source.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace coldpress::data {

/// Samples, one after another. To train on data that is not stored, such as that of a simulation, derive from this
/// class. All samples of an epoch must follow from the number of the epoch; otherwise a training that is resumed
/// continues with other samples.
class SampleStream {
 public:
  struct Position {
    std::uint64_t epoch = 0;
    Index offset = 0;  // the number of samples of the epoch that were already read
    bool operator==(Position const&) const = default;
  };

  virtual ~SampleStream() = default;
  virtual Shape sample_shape() const = 0;
  virtual Shape target_shape() const = 0;
  virtual Index size() const = 0;  // of an epoch, in samples

  /// Sets what is read next. The position is within an epoch.
  virtual void seek(Position position) = 0;
  /// Copies the next `count` samples and their targets, row-major; they must not go beyond the end of the epoch. The
  /// next call continues there, or with the next epoch. After an exception, the next call must be seek.
  virtual void read(Index count, float* samples, float* targets) = 0;
};

/// The samples in the order in which they are stored. `source` must outlive the stream.
std::unique_ptr<SampleStream> in_order(Source const& source);

/// The samples in a different order each epoch, which depends on the source's size, its blocks and the seed alone.
/// `source` must outlive the stream.
///
/// If all samples can be read on their own, or are shuffled together, each order is equally likely, and the same as for
/// a data set in memory. Otherwise the blocks are read in random order, and the samples of
/// Description::shuffled_together are mixed. While they are returned, the next ones are read, a block at a time.
std::unique_ptr<SampleStream> shuffled(Source const& source, std::uint64_t seed);

/// Fills `order` with 0, 1, ... in a random order that depends on its size, `seed` and `epoch` alone.
void shuffle(std::span<Index> order, std::uint64_t seed, std::uint64_t epoch);

}  // namespace coldpress::data
