#include "players.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

namespace {

std::atomic<int> reported = 0;
std::atomic<bool> ends_with_report = false;
constexpr int code_of_report = 86;

}  // namespace

// ThreadSanitizer calls the first when it has reported something. What it has reported once it reports again where
// another thread or address is in it; no test fails by the exit code.
extern "C" void __tsan_on_report(void*) {
  ++reported;
  if (ends_with_report) ::_exit(code_of_report);
}
extern "C" char const* __tsan_default_options() { return "exitcode=0 halt_on_error=0 report_signal_unsafe=0"; }

namespace coldpress::test {

Races& races() {
  static Races all;
  return all;
}
int reports() { return reported; }

bool in_process_of_its_own(void (*call)(void const*), void const* f) {
  std::fflush(nullptr);  // or the process would print it, too
  ::pid_t const child = ::fork();
  if (child < 0) throw std::runtime_error{"fork failed"};
  if (child == 0) {
    static_cast<void>(!std::freopen("/dev/null", "w", stderr));
    ends_with_report = true;
    try {
      call(f);
    } catch (...) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == code_of_report) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
  throw std::runtime_error{"a pass with a barrier left out ended with status " + std::to_string(status)};
}

namespace {

/// Some threads wait for each other, time after time. Each round has a mutex of its own, until all are past it: with
/// one mutex for all rounds, a thread that is slow to leave a round would lock it after another has come to the next,
/// and so know all that this one did in between, where there ought to be another barrier.
class Barrier {
 public:
  explicit Barrier(int count) : count_(count) {}
  /// Of a thread that has been at `number` barriers before. Throws where others end in the place of coming here.
  void wait(Index number) {
    Round& round = rounds_[number % size];
    std::unique_lock lock{round.mutex};
    Index const before = round.done;
    arrive(round);
    round.changed.wait(lock, [&] { return round.done != before; });
    if (round.ended) throw std::runtime_error{"some threads wait at a barrier that others do not reach"};
  }
  /// Of a thread that will be at no other.
  void end(Index number) {
    Round& round = rounds_[number % size];
    std::lock_guard const lock{round.mutex};
    round.ended = true;
    arrive(round);
  }

 private:
  struct Round {
    std::mutex mutex;
    std::condition_variable changed;
    int here = 0;
    Index done = 0;
    bool ended = false;
  };
  void arrive(Round& round) const {
    if (++round.here < count_) return;
    round.here = 0, ++round.done;
    round.changed.notify_all();
  }
  static constexpr Index size = 4;
  Round rounds_[size];
  int const count_;
};

/// A kernel, played by real threads.
class Players {
 public:
  Players(cuda::Call const& call, void const* arguments) : call_(call), arguments_(arguments) {
    for (int n = 0; n < how_.players; ++n) blocks_.push_back(std::make_unique<Block>(how_.members));
  }
  void play() {
    std::vector<std::thread> threads;
    for (int player = 0; player < how_.players; ++player) {
      for (int member = 0; member < how_.members; ++member)
        threads.emplace_back([this, player, member] { play(player, member); });
    }
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    if (is_chosen_) how_.barriers += barriers_, how_.barriers_in_block += barriers_in_block_;
    how_.played.insert(call_.loops), ++how_.kernels;
  }

 private:
  struct Block {
    explicit Block(int members) : barrier(members) {
      std::memset(shared, 0xff, sizeof shared);  // NaNs: nothing may be read unwritten
    }
    alignas(16) float shared[grid::block_values];
    Barrier barrier;
  };
  struct Member {
    Players& all;
    Block& block;
    bool in_first_block;
    Index barriers = 0, barriers_in_block = 0;  // that it has come to,
    Index waits = 0, waits_in_block = 0;        // and where it has waited
  };
  void play(int player, int member) {
    Member own{*this, *blocks_[static_cast<std::size_t>(player)], player == 0};
    grid::Host host;
    host.player = player, host.players = how_.players, host.others = &own;
    host.wait = [](void* others) {
      auto& me = *static_cast<Member*>(others);
      if (!me.all.is_left_out(me.barriers++, me.all.how_.barrier)) me.all.barrier_.wait(me.waits++);
    };
    if (how_.members > 1) {
      host.member = member, host.members = how_.members, host.shared = own.block.shared;
      host.wait_in_block = [](void* others) {
        auto& me = *static_cast<Member*>(others);
        Index const number = me.barriers_in_block++;
        if (!me.in_first_block || !me.all.is_left_out(number, me.all.how_.barrier_in_block))
          me.block.barrier.wait(me.waits_in_block++);
      };
    }
    try {
      call_.loops(arguments_, host);
    } catch (...) {
      std::lock_guard const lock{mutex_};
      error_ = std::current_exception();
    }
    if (player == 0 && member == 0) barriers_ = own.barriers, barriers_in_block_ = own.barriers_in_block;
    barrier_.end(own.waits), own.block.barrier.end(own.waits_in_block);
  }
  bool is_left_out(Index number, Index first) const {
    return is_chosen_ && first != Races::none && number >= first && number < first + how_.in_a_row;
  }

  Races& how_ = races();
  cuda::Call const& call_;
  void const* const arguments_;
  bool const is_chosen_ = how_.kernel == Races::none || how_.kernel == how_.kernels;
  std::vector<std::unique_ptr<Block>> blocks_;
  Barrier barrier_{how_.players * how_.members};
  Index barriers_ = 0, barriers_in_block_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Plays each pass at once, in memory of the host.
class RacingDevice final : public cuda::Device {
 public:
  RacingDevice() { make_common(); }
  ~RacingDevice() override { destroy_common(); }
  std::string const& name() const override {
    static std::string const name = "cuda:emulated";
    return name;
  }
  bool emulated() const override { return true; }
  cuda::Compiled compile(std::string const&) override {
    throw UnsupportedError{"'" + name() + "' with real threads has no compiler for fused passes"};
  }
  void release_pinned(void* memory) noexcept override { std::free(memory); }

 private:
  struct Tape final : cuda::TakenDown {
    using TakenDown::TakenDown;
    void change(std::size_t) override {}
    void start() override {
      for (cuda::Call const& call : pass.calls()) Players{call, pass.arguments(call)}.play();
    }
  };
  void* make(std::size_t bytes) override {
    void* const memory = std::calloc(bytes, 1);
    if (!memory) throw std::bad_alloc{};
    return memory;
  }
  void* make_pinned(std::size_t bytes) override { return make(bytes); }
  void destroy(void* memory) noexcept override { std::free(memory); }
  void copy_up(void* to, void const* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy_down(void* to, void const* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy_ahead(void* to, void const* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy_over(void* to, Device&, void const* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void set_zero(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }
  int most_blocks(cuda::Call const&) override { return std::numeric_limits<int>::max(); }
  bool has_cluster(cuda::Call const&, int) override { return true; }
  std::unique_ptr<cuda::TakenDown> take_down(cuda::Pass const& pass) override { return std::make_unique<Tape>(pass); }
  void mark(int) override {}
  void wait(int) override {}
};

}  // namespace
}  // namespace coldpress::test

namespace coldpress::cuda {

// These programs link no other: their emulated device is this one.
std::shared_ptr<Device> emulated_device() { return std::make_shared<test::RacingDevice>(); }

}  // namespace coldpress::cuda
