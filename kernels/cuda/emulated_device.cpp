#include <coldpress/backend/cuda/compiler.hpp>
#include <coldpress/backend/cuda/device.hpp>

#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <new>

namespace coldpress::cuda {
namespace {

/// Does what it has to as late as a GPU may: kernels when somebody waits for them. And as early: a copy ahead at once.
/// Its memory is one that a host cannot read.
class EmulatedDevice final : public Device {
 public:
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

 private:
  /// While it lasts the memory is open.
  struct Open {
    explicit Open(EmulatedDevice& of) : device(of) { device.protect(PROT_READ | PROT_WRITE); }
    ~Open() { device.protect(PROT_NONE); }
    EmulatedDevice& device;
  };
  class Tape final : public TakenDown {
   public:
    Tape(EmulatedDevice& device, Pass const& from) : TakenDown(from), device_(device), tape_(from) {}
    void change(std::size_t number) override { tape_.copy(pass, number); }
    void start() override { device_.started_.push_back(tape_); }

   private:
    EmulatedDevice& device_;
    Pass tape_;  // changed where it is told to, and nowhere else
  };

  void* make(std::size_t bytes) override {
    void* const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // zeros
    if (memory == MAP_FAILED) throw DeviceError{"'" + name() + "': the host has no memory left"};
    areas_[memory] = bytes;
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
  void set_zero(void* to, std::size_t bytes) override {
    play(started_.size());
    Open const open{*this};
    std::memset(to, 0, bytes);
  }
  int most_blocks(void const*) override { return std::numeric_limits<int>::max(); }
  std::unique_ptr<TakenDown> take_down(Pass const& pass) override { return std::make_unique<Tape>(*this, pass); }
  void mark(int turn) override { marks_[turn] = played_ + started_.size(); }
  void wait(int turn) override {
    if (marks_[turn] > played_) play(marks_[turn] - played_);
  }

  void play(std::size_t passes) {
    if (passes == 0) return;
    Open const open{*this};
    for (; passes > 0; --passes, ++played_) {
      for (Call const& call : started_.front().calls()) started_.front().play(call);
      started_.pop_front();
    }
  }
  void protect(int allowed) {
    for (auto const& [memory, bytes] : areas_) ::mprotect(memory, bytes, allowed);
  }
  std::map<void*, std::size_t> areas_;
  std::deque<Pass> started_;
  std::size_t played_ = 0, marks_[2] = {};
};

}  // namespace

std::shared_ptr<Device> emulated_device() { return std::make_shared<EmulatedDevice>(); }

}  // namespace coldpress::cuda
