#include <coldpress/data/prefetcher.hpp>

#include "data/blocks.hpp"
#include "data/files.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// Numbers from a generator, which counts what was read and fails at one sample.
class Counter final : public SampleStream {
 public:
  struct Log {
    std::atomic<Index> read = 0;        // in samples
    std::atomic<Index> fails_at = -1;   // the number of a sample in its epoch
    std::atomic<bool> signals = false;  // whether the reading thread would get signals
  };
  explicit Counter(Log& log) : log_(log) {}
  Shape sample_shape() const override { return {1}; }
  Shape target_shape() const override { return {1}; }
  Index size() const override { return 10; }
  void seek(Position position) override { position_ = position; }
  void read(Index count, float* samples, float* targets) override {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    log_.signals = !sigismember(&blocked, SIGINT);
    if (position_.offset == 10) position_ = {position_.epoch + 1, 0};
    for (Index i = 0; i < count; ++i, ++position_.offset) {
      if (position_.offset == log_.fails_at) throw DataError{"sample " + std::to_string(position_.offset) + " is bad"};
      samples[i] = static_cast<float>(position_.offset);
      targets[i] = static_cast<float>(position_.epoch);
    }
    log_.read += count;
  }

 private:
  Log& log_;
  Position position_;
};

Prefetcher counting(Counter::Log& log, Index depth) {
  return Prefetcher{Batches{std::make_unique<Counter>(log), 4}, depth};
}
void wait_until_read(Counter::Log const& log, Index samples) {
  while (log.read < samples) std::this_thread::yield();
}

}  // namespace

TEST_CASE("the batches of a prefetcher are those without it, in the same order, from any position") {
  InBlocks const in_blocks{23, {0, 4, 8, 10, 14, 18, 19, 23}, 8};
  for (Index const depth : {0, 1, 2, 7}) {
    Batches expected{shuffled(in_blocks, 9), 5};
    Prefetcher prefetched{Batches{shuffled(in_blocks, 9), 5}, depth};
    auto const compare = [&] {
      CHECK(prefetched.position() == expected.position());
      auto const a = expected.next(), b = prefetched.next();
      CHECK(a.position == b.position);
      CHECK(a.ends_epoch == b.ends_epoch);
      CHECK(std::ranges::equal(a.samples, b.samples));
      CHECK(std::ranges::equal(a.targets, b.targets));
    };
    for (int i = 0; i < 40; ++i) compare();
    for (SampleStream::Position const at : {SampleStream::Position{1, 3}, {0, 0}, {5, 22}}) {
      expected.seek(at), prefetched.seek(at);
      for (int i = 0; i < 12; ++i) compare();
    }
    CHECK(contains(message<ConfigError>([&] { prefetched.seek({0, 23}); }), "but there are 23 samples"));
    for (int i = 0; i < 12; ++i) compare();
  }
}

TEST_CASE("an epoch of a prefetcher is a range") {
  Counter::Log log;
  Prefetcher batches = counting(log, 3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    Index samples = 0;
    for (auto const& batch : batches.epoch()) {
      CHECK(batch.targets[0] == static_cast<float>(epoch));
      samples += batch.size;
    }
    CHECK(samples == 10);
  }
}

TEST_CASE("the thread reads as many batches ahead as it may, and blocks signals") {
  Counter::Log log;
  {
    Prefetcher batches = counting(log, 2);
    wait_until_read(log, 8);
    CHECK_FALSE(log.signals);
    auto const batch = batches.next();
    std::vector<float> const before(batch.samples.begin(), batch.samples.end());
    wait_until_read(log, 10);  // one more, the smaller last one of the epoch, in place of the one that was taken
    CHECK(std::ranges::equal(batch.samples, before));
    CHECK(log.read == 10);
  }  // a stop while the queue is full
  CHECK(log.read == 10);
  auto const without = counting(log, 0);
  CHECK(log.read == 10);
}

TEST_CASE("what the thread throws comes out where the batch is taken, after those before it") {
  Counter::Log log;
  log.fails_at = 9;
  Prefetcher batches = counting(log, 5);
  for (int again = 0; again < 3; ++again) {
    batches.seek({3, 0});
    CHECK(batches.next().samples[0] == 0);
    CHECK(batches.next().samples[0] == 4);
    for (int i = 0; i < 2; ++i) {
      CHECK(batches.position() == SampleStream::Position{3, 8});
      CHECK(message<DataError>([&] { batches.next(); }) == "sample 9 is bad");
    }
  }
  log.fails_at = -1;
  CHECK(batches.next().samples[1] == 9);
  CHECK(batches.next().targets[0] == 4);
}

TEST_CASE("a prefetcher can end when its user throws, when a failure was not taken, and at once") {
  Counter::Log log;
  CHECK_THROWS_AS(
      [&] {
        Prefetcher batches = counting(log, 3);
        batches.next();
        throw ConfigError{"of the user"};
      }(),
      ConfigError);
  log.fails_at = 0;
  for (int i = 0; i < 100; ++i) counting(log, 3);
  log.fails_at = -1;
  for (int i = 0; i < 100; ++i) counting(log, 3);
  Prefetcher moved = counting(log, 3);
  moved = counting(log, 2);
  CHECK(moved.next().samples[0] == 0);
  CHECK(contains(message<ConfigError>([&] { counting(log, -1); }), "is -1, expected at least 0"));
}

TEST_CASE("a prefetcher allocates nothing once it is made") {
  Dataset const dataset = numbered(50);
  Prefetcher batches{Batches{dataset, 7, 2}, 3};
  batches.next();
  std::size_t const before = test::heap.calls;
  for (int i = 0; i < 200; ++i) batches.next();
  CHECK(test::heap.calls == before);
}

TEST_CASE("a prefetcher counts the seconds for which it was waited for") {
  Counter::Log log;
  Prefetcher without = counting(log, 0);
  for (int i = 0; i < 1000; ++i) without.next();
  CHECK(without.seconds_waited() > 0);
  Prefetcher batches = counting(log, 4);
  CHECK(batches.seconds_waited() == 0);
}
