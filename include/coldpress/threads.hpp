// A thread pool for networks. It is not part of coldpress.hpp because it needs the system's threads.
#pragma once

// In CMake, link coldpress::threads or Threads::Threads.

#include <coldpress/core/executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace coldpress {

/// The largest number of threads that a user may ask a backend for.
inline constexpr int most_threads = 4096;

/// The calling thread and workers() - 1 others, which sleep while there is no work. Any number of threads may call run.
/// While one thread has the pool, other callers do their work alone, and so does a piece that calls run itself.
///
/// The pieces of a work are divided evenly in their order, so that a thread finds in its cache what it computed in the
/// work before. A thread that has done its own takes over those of the others, from the last on. The caller therefore
/// waits only for pieces that were begun. If another program keeps a worker from finishing a piece, the pool is not
/// used for twice as long as that took, and longer if it soon happens again.
class ThreadPool final : public Executor {
 public:
  /// `workers` includes the calling thread; 0 means one per core.
  explicit ThreadPool(int workers = 0)
      : workers_(workers > 0 ? workers : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        open_(std::make_unique<Open[]>(static_cast<std::size_t>(workers_))) {
    threads_.reserve(static_cast<std::size_t>(workers_ - 1));
    try {
      for (int worker = 1; worker < workers_; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (...) {  // the system cannot start another thread
      stop();
      throw;
    }
  }
  ThreadPool(ThreadPool const&) = delete;
  ~ThreadPool() override { stop(); }

  int workers() const override { return workers_; }
  void run(Work const& work) override {
    if (threads_.empty() || busy_.exchange(true, std::memory_order_acquire)) return alone(work);
    struct Release {
      std::atomic<bool>& busy;
      ~Release() { busy.store(false, std::memory_order_release); }
    } const release{busy_};
    auto const begin = Clock::now();
    if (begin < aside_until_) return alone(work);

    work_ = work;
    failed_.store(false, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    at_once_ = 1 + work.pieces / Open::most;
    auto const round = round_.load(std::memory_order_relaxed) + 1;
    auto const units = (work.pieces + std::int64_t{at_once_} - 1) / at_once_;
    int const used = static_cast<int>(std::min<std::int64_t>(workers_, units));
    auto const from = [&](int worker) { return static_cast<std::uint32_t>((worker * units + used - 1) / used); };
    used_.store(used, std::memory_order_relaxed);
    for (int worker = 0; worker < used; ++worker)
      of(worker).units.store(Open::range(round, from(worker), from(worker + 1)), std::memory_order_release);
    round_.store(round);
    if (sleeping_.load() > 0) round_.notify_all();

    int const mine = claim(round, 0);
    auto const end = Clock::now();
    int const done = done_.fetch_add(mine, std::memory_order_acq_rel) + mine;
    if (done < work.pieces) wait_for_others(work.pieces, end, 4 * (end - begin) / std::max(1, mine));
    if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto spinning = std::chrono::microseconds{50};   // before a thread sleeps
  static constexpr auto stalling = std::chrono::microseconds{100};  // a longer wait means that a worker has lost its
                                                                    // core

  /// The units of a worker that have not been begun: the number of the round, the first, and the one after the last. A
  /// unit is `at_once_` pieces that are begun together: one, unless there are more than fit into 15 bits.
  struct alignas(64) Open {
    static constexpr std::int32_t most = (1 << 15) - 1;  // units
    static constexpr std::uint64_t one_first = 1 << 16;
    static std::uint64_t range(std::uint32_t round, std::uint32_t first, std::uint32_t last) {
      return std::uint64_t{round} << 32 | first << 16 | last;
    }
    static std::uint32_t first(std::uint64_t open) { return static_cast<std::uint32_t>(open) >> 16; }
    static std::uint32_t last(std::uint64_t open) { return static_cast<std::uint32_t>(open) & 0xffff; }

    std::atomic<std::uint64_t> units = 0;
  };
  Open& of(int worker) { return open_[static_cast<std::size_t>(worker)]; }

  static void pause() {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    asm volatile("yield");
#endif
  }
  /// Spins until holds() is true; returns false if that takes too long.
  template <class Holds>
  static bool spin(Holds holds) {
    auto const until = Clock::now() + spinning;
    do {
      for (int i = 0; i < 32; ++i) {
        if (holds()) return true;
        pause();
      }
    } while (Clock::now() < until);
    return false;
  }
  static void alone(Work const& work) {
    for (int number = 0; number < work.pieces; ++number) work(number, 0);
  }
  /// Does pieces of a round while there are any, and returns how many. A round cannot end while a piece is open, so
  /// work_ and at_once_ are this round's.
  int claim(std::uint32_t round, int worker) {
    int count = 0;
    int const used = used_.load(std::memory_order_relaxed);
    for (int i = 0; i < used; ++i) {
      bool const own = i == 0 && worker < used;
      auto& units = of((worker + i) % used).units;
      std::uint64_t open = units.load(std::memory_order_acquire);
      while (open >> 32 == round && Open::first(open) < Open::last(open)) {
        std::uint64_t const rest = own ? open + Open::one_first : open - 1;
        if (!units.compare_exchange_weak(open, rest, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
        auto const unit = static_cast<int>(own ? Open::first(open) : Open::last(rest));
        int const before = unit * at_once_, pieces = std::min(work_.pieces - before, at_once_);
        for (int k = 0; k < pieces; ++k) compute(before + k, worker);
        count += pieces;
        open = units.load(std::memory_order_acquire);
      }
    }
    return count;
  }
  void compute(int number, int worker) {
    try {
      if (!failed_.load(std::memory_order_relaxed)) work_(number, worker);
    } catch (...) {
      if (!failing_.test_and_set(std::memory_order_acquire)) {
        if (!error_) error_ = std::current_exception();
        failed_.store(true, std::memory_order_relaxed);
        failing_.clear(std::memory_order_release);
      }
    }
  }
  void serve(int worker) {
    for (std::uint32_t seen = 0;;) {
      std::uint32_t round = round_.load();
      if (round == seen && !spin([&] { return (round = round_.load(std::memory_order_acquire)) != seen; })) {
        ++sleeping_;
        round_.wait(seen);
        --sleeping_;
        round = round_.load();
      }
      if (stopping_.load()) return;
      if (round == seen) continue;
      seen = round;
      int const pieces = claim(round, worker);
      if (pieces == 0) continue;
      done_.fetch_add(pieces);
      if (waiting_.load()) done_.notify_one();
    }
  }
  void wait_for_others(int pieces, Clock::time_point begin, Clock::duration patience) {
    int done = 0;
    auto const finished = [&] { return (done = done_.load(std::memory_order_acquire)) == pieces; };
    if (!spin(finished)) {
      waiting_.store(true);  // frees this core, which a worker may need
      while (done_.load() != pieces) {
        if (!finished()) done_.wait(done);
      }
      waiting_.store(false);
    }
    auto const now = Clock::now();
    if (now - begin < std::max<Clock::duration>(stalling, patience)) return;
    auto const waited = now - begin;
    times_ = now - aside_until_ < 4 * waited ? std::min(2 * times_, 32) : 2;
    aside_until_ = now + times_ * waited;
  }
  void stop() {
    stopping_.store(true);
    ++round_;
    round_.notify_all();
#if __has_include(<unistd.h>)
    if (getpid() != process_) {  // a forked process has no workers to wait for
      for (std::thread& thread : threads_) thread.detach();
      return;
    }
#endif
    for (std::thread& thread : threads_) thread.join();
  }

  int workers_;
  std::vector<std::thread> threads_;
#if __has_include(<unistd.h>)
  pid_t process_ = getpid();
#endif
  std::atomic<bool> busy_ = false, stopping_ = false;
  // State of the caller that has the pool.
  Clock::time_point aside_until_{};
  int times_ = 0;  // the pool is unused for this many times the last stall
  // State of a round.
  std::unique_ptr<Open[]> open_;
  Work work_{};
  int at_once_ = 1;            // number of pieces of a unit
  std::atomic<int> used_ = 0;  // the units are divided among so many workers
  std::exception_ptr error_;
  std::atomic_flag failing_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> failed_ = false;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;  // workers sleep on it
  std::atomic<int> sleeping_ = 0;
  alignas(64) std::atomic<int> done_ = 0;  // number of pieces; the caller sleeps on it
  std::atomic<bool> waiting_ = false;
};

}  // namespace coldpress
