// Minibatches that a thread of its own reads ahead, while the caller trains.
#pragma once

#include <coldpress/data/batches.hpp>

#include <memory>

namespace coldpress::data {

/// The same minibatches in the same order as those of the Batches that it is given. A thread reads up to `depth` of
/// them ahead. It blocks all signals, so that they reach the caller's threads. After the constructor, nothing is
/// allocated except by the stream.
class Prefetcher {
 public:
  using Position = Batches::Position;
  using Batch = Batches::Batch;

  /// With a depth of 0 there is no thread, and each batch is read when it is taken. Throws ConfigError for a negative
  /// depth, and std::system_error if the system cannot start a thread.
  explicit Prefetcher(Batches batches, Index depth = 4);
  Prefetcher(Prefetcher&&) noexcept;
  Prefetcher& operator=(Prefetcher&&) noexcept;
  /// Ends the thread after the batch that it is reading.
  ~Prefetcher();

  /// The next batch, valid until the next call. Throws what reading it threw; batches that were read before it come
  /// first. A call after that tries the same batch again.
  Batch next();
  Epoch<Prefetcher> epoch() { return Epoch<Prefetcher>{*this}; }
  /// The position of the batch that next() will return.
  Position position() const;
  /// From the next batch on, each is read as a whole. Discards what was read ahead.
  void read_whole();
  /// Discards what was read ahead. Throws ConfigError if the offset is outside the data set.
  void seek(Position position);

  /// For how many seconds calls of next() have waited for data. With a depth of 0, these are the seconds of all
  /// reading.
  double seconds_waited() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace coldpress::data
