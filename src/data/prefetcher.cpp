// The thread that fills the next minibatches, how it hands them over, and how its errors reach the caller.
#include <coldpress/data/prefetcher.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <signal.h>

namespace coldpress::data {
namespace {

using Clock = std::chrono::steady_clock;

/// Blocks all signals while it exists; a thread that is started meanwhile keeps them blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(SignalsBlocked const&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

struct Slot {
  std::vector<float> samples, targets;
  Batches::Batch batch{};
};

}  // namespace

struct Prefetcher::State {
  Batches batches;  // the thread's while it runs
  std::vector<Slot> slots;
  Position position;
  Clock::duration waited{};
  std::size_t taken = 0;  // the slot that the caller takes next; it has the one before that

  std::mutex mutex;  // guards what follows
  std::condition_variable read, freed;
  std::size_t full = 0;  // the number of slots that hold a batch
  bool stopping = false;
  std::exception_ptr failure;  // what ended the thread
  std::thread thread;

  // One slot more than are read ahead, for the batch that the caller has.
  State(Batches from, Index depth)
      : batches(std::move(from)),
        slots(depth > 0 ? static_cast<std::size_t>(depth) + 1 : 0),
        position(batches.position()) {
    auto const values = [&](Shape const& shape) {
      return static_cast<std::size_t>(batches.batch_size() * shape.size());
    };
    for (Slot& slot : slots) {
      slot.samples.resize(values(batches.stream().sample_shape()));
      slot.targets.resize(values(batches.stream().target_shape()));
    }
  }
  ~State() { stop(); }

  void start() {
    stopping = false, failure = nullptr;
    full = taken = 0;
    SignalsBlocked const blocked;
    thread = std::thread{[this] { fill(); }};
  }

  void stop() {
    if (!thread.joinable()) return;
    {
      std::lock_guard const lock{mutex};
      stopping = true;
    }
    freed.notify_one();
    thread.join();
  }

  /// What the thread does. It sleeps until half of the slots are free, so that the two threads wake each other seldom.
  void fill() {
    std::size_t const depth = slots.size() - 1;
    std::size_t at = 0;
    try {
      for (;;) {
        {
          std::unique_lock lock{mutex};
          if (full == depth) freed.wait(lock, [&] { return stopping || full <= depth / 2; });
          if (stopping) return;
        }
        Slot& slot = slots[at];
        slot.batch = batches.next(slot.samples.data(), slot.targets.data());
        at = (at + 1) % slots.size();
        {
          std::lock_guard const lock{mutex};
          ++full;
        }
        read.notify_one();
      }
    } catch (...) {
      std::lock_guard const lock{mutex};
      failure = std::current_exception();
    }
    read.notify_one();
  }

  Batch take() {
    if (!thread.joinable()) start();
    {
      std::unique_lock lock{mutex};
      if (full == 0 && !failure) {
        auto const begin = Clock::now();
        read.wait(lock, [&] { return full > 0 || failure; });
        waited += Clock::now() - begin;
      }
      if (full > 0) {
        --full;
        bool const wake = full <= (slots.size() - 1) / 2;
        Batch const batch = slots[taken].batch;
        taken = (taken + 1) % slots.size();
        lock.unlock();
        if (wake) freed.notify_one();
        return batch;
      }
    }
    thread.join();  // so that no other thread refers to the exception
    std::rethrow_exception(std::exchange(failure, nullptr));
  }
};

Prefetcher::Prefetcher(Batches batches, Index depth) {
  if (depth < 0)
    throw ConfigError{"the number of batches to read ahead is " + std::to_string(depth) + ", expected at least 0"};
  state_ = std::make_unique<State>(std::move(batches), depth);
  if (depth > 0) state_->start();
}
Prefetcher::Prefetcher(Prefetcher&&) noexcept = default;
Prefetcher& Prefetcher::operator=(Prefetcher&&) noexcept = default;
Prefetcher::~Prefetcher() = default;

Prefetcher::Batch Prefetcher::next() {
  State& s = *state_;
  if (s.slots.empty()) {
    auto const begin = Clock::now();
    Batch const batch = s.batches.next();
    s.waited += Clock::now() - begin;
    return batch;
  }
  Batch const batch = s.take();
  s.position = batch.ends_epoch ? Position{batch.position.epoch + 1, 0}
                                : Position{batch.position.epoch, batch.position.offset + batch.size};
  return batch;
}

Prefetcher::Position Prefetcher::position() const {
  return state_->slots.empty() ? state_->batches.position() : state_->position;
}

void Prefetcher::seek(Position position) {
  State& s = *state_;
  if (s.slots.empty()) return s.batches.seek(position);
  s.stop();
  s.batches.seek(s.position);  // if the next line throws, what was read ahead is read again
  s.batches.seek(position);
  s.position = position;
}

void Prefetcher::read_whole() {
  State& s = *state_;
  Position const next = position();
  s.stop();
  s.batches.read_whole();
  seek(next);
}

double Prefetcher::seconds_waited() const { return std::chrono::duration<double>(state_->waited).count(); }

}  // namespace coldpress::data
