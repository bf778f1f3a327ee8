// A device that is the host: it runs kernels as loops, as late as a GPU might, in memory that the host cannot read.
#include <coldpress/cuda/compiler.hpp>
#include <coldpress/cuda/device.hpp>

#include <sys/mman.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>

namespace coldpress::cuda {
namespace {

/// Plays a kernel with two players, each of which does a part of the work. They take turns: one runs until it reaches a
/// barrier or the end, then the other. If a barrier is missing, a player reads a value of the other too early or, with
/// the other order, too late.
class Players {
 public:
  static void play(Call const& call, void const* arguments) {
    Players both{call, arguments};
    std::thread second{[&both, order = grid::order()] {
      grid::order() = order;
      both.play(1);
    }};
    both.play(0);
    second.join();
    if (both.error_) std::rethrow_exception(both.error_);
    if (both.barriers_[0] > 0 && call.barriers == 0 && call.blocks > 1)
      throw DeviceError{"'cuda:emulated': a kernel has barriers, but its launch estimate says that it has none"};
    if (both.barriers_[0] != both.barriers_[1])
      throw DeviceError{"'cuda:emulated': some threads wait at a barrier that others do not reach"};
  }

 private:
  Players(Call const& call, void const* arguments) : call_(call), arguments_(arguments) {}
  void play(int number) {
    grid::Host& host = grid::host();
    grid::Host const before = host;
    host.player = number, host.players = 2, host.others = this;
    host.wait = [](void* both) { static_cast<Players*>(both)->meet(static_cast<int>(grid::host().player)); };
    take_turn(number);
    try {
      call_.loops(arguments_, host);
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_[number] = true;
    pass_on(number);
    host = before;
  }
  void meet(int number) {
    ++barriers_[number];
    pass_on(number);
    take_turn(number);
  }
  void take_turn(int number) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return turn_ == number; });
  }
  void pass_on(int number) {
    std::lock_guard const lock{mutex_};
    if (!ended_[1 - number]) turn_ = 1 - number;
    changed_.notify_all();
  }
  Call const& call_;
  void const* arguments_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = static_cast<int>(grid::played(0, 2));
  Index barriers_[2] = {};
  bool ended_[2] = {};
  std::exception_ptr error_;
};

/// Does everything as late as a GPU might: kernels run when something waits for them. Copies ahead are made as early as
/// a GPU might make them: at once. The host cannot access its memory, so that wrong accesses end the program.
class EmulatedDevice final : public Device {
 public:
  EmulatedDevice() { make_common(); }
  ~EmulatedDevice() override {
    for (auto const& [memory, bytes] : areas_) ::munmap(memory, bytes);
  }
  std::string const& name() const override {
    static std::string const name = "cuda:emulated";
    return name;
  }
  bool emulated() const override { return true; }
  Compiled compile(std::string const& source) override {
    if (!host_compiler())
      throw UnsupportedError{"'" + name() + "' has no compiler for fused passes; do without `fused`"};
    return {.loops = host_compiler()(source)};
  }
  void release_pinned(void* memory) noexcept override { ::operator delete(memory); }
  void call_once(LibraryCall const& library, LibraryCall::Operands const& operands) override {
    play(started_.size());
    Open const open{*this};
    library.play(operands);
    called_.insert(&library);
  }

 private:
  static constexpr std::size_t most_started = 1024;  // a GPU's queue is not endless, either
  /// Makes the memory accessible while an object of this type lives.
  struct Open {
    explicit Open(EmulatedDevice& of) : device(of) { device.protect(PROT_READ | PROT_WRITE); }
    ~Open() { device.protect(PROT_NONE); }
    EmulatedDevice& device;
  };
  class Tape final : public TakenDown {
   public:
    Tape(EmulatedDevice& device, Pass const& from) : TakenDown(from), device_(device), tape_(from) {}
    void change(std::size_t number) override { tape_.copy(pass, number); }
    void start() override {
      if (device_.started_.size() == most_started) device_.play(1);
      device_.started_.push_back(tape_);
    }

   private:
    EmulatedDevice& device_;
    Pass tape_;  // changes only where change() says so
  };

  void* make(std::size_t bytes) override {
    void* const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // zeros
    if (memory == MAP_FAILED) throw DeviceError{"'" + name() + "': the host has no memory left"};
    areas_[memory] = bytes;
    return memory;
  }
  void* make_unset(std::size_t bytes) override {
    void* const memory = make(bytes);
    ::mprotect(memory, bytes, PROT_READ | PROT_WRITE);
    std::memset(memory, 0xff, bytes);  // NaN both as float and as double
    ::mprotect(memory, bytes, PROT_NONE);
    return memory;
  }
  void* make_pinned(std::size_t bytes) override { return ::operator new(bytes); }
  void destroy(void* memory) noexcept override {
    play(started_.size());
    ::munmap(memory, areas_[memory]);
    areas_.erase(memory);
  }
  void copy_up(void* to, void const* from, std::size_t bytes) override {
    play(started_.size());
    Open const open{*this};
    std::memcpy(to, from, bytes);
  }
  void copy_down(void* to, void const* from, std::size_t bytes) override { copy_up(to, from, bytes); }
  void copy_ahead(void* to, void const* pinned, std::size_t bytes) override {
    Open const open{*this};
    std::memcpy(to, pinned, bytes);
  }
  void copy_over(void* to, Device& other, void const* from, std::size_t bytes) override {
    auto& source = static_cast<EmulatedDevice&>(other);  // the devices have the same name, so this is one
    source.play(source.started_.size());
    Open const here{*this}, there{source};
    std::memcpy(to, from, bytes);
  }
  void set_zero(void* to, std::size_t bytes) override {
    play(started_.size());
    Open const open{*this};
    std::memset(to, 0, bytes);
  }
  int most_blocks(Call const&) override { return std::numeric_limits<int>::max(); }
  bool has_cluster(Call const&, int) override { return true; }
  std::unique_ptr<TakenDown> take_down(Pass const& pass) override {
    for (Call const& call : pass.calls()) {
      if (call.library && called_.count(call.library) == 0)
        throw DeviceError{"'cuda:emulated': a library's call was captured that had never been made before"};
    }
    return std::make_unique<Tape>(*this, pass);
  }
  void mark(int group) override { marks_[group] = played_ + started_.size(); }
  void wait(int group) override {
    if (marks_[group] > played_) play(marks_[group] - played_);
  }

  void play(std::size_t passes) {
    if (passes == 0) return;
    Open const open{*this};
    for (; passes > 0; --passes) {
      Pass const pass = std::move(started_.front());
      started_.pop_front(), ++played_;
      for (Call const& call : pass.calls()) {
        if (call.library) {
          call.library->play(pass.operands(call));
        } else {
          Players::play(call, pass.arguments(call));
        }
      }
    }
  }
  void protect(int allowed) {
    for (auto const& [memory, bytes] : areas_) ::mprotect(memory, bytes, allowed);
  }
  std::map<void*, std::size_t> areas_;
  std::set<LibraryCall const*> called_;
  std::deque<Pass> started_;
  std::size_t played_ = 0, marks_[2] = {};
};

}  // namespace

std::shared_ptr<Device> emulated_device() { return std::make_shared<EmulatedDevice>(); }

}  // namespace coldpress::cuda
