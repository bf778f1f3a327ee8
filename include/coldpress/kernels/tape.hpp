// Records kernel calls once and replays them: for a small network, computing their arguments anew takes longer.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/kernels/fused_steps.hpp>

#include <cstddef>
#include <span>
#include <tuple>

namespace coldpress::cpu {

/// Kernel calls with their arguments, stored one after another in borrowed memory.
class Tape {
 public:
  using Inputs = std::span<std::span<float const> const>;

  /// The address that stands for input k while calls are recorded. No memory has such an address, so the pointers of a
  /// call that have it are found, and replayed calls read the current input instead.
  static float const* stand_in(std::size_t k) { return reinterpret_cast<float const*>((k + 1) << shift); }
  /// Starts a new recording. Replayed calls may read inputs of these sizes at other addresses than the recorded ones.
  void start(std::span<std::byte> memory, Inputs inputs = {}) {
    memory_ = memory.data(), capacity_ = memory.size(), size_ = 0, inputs_ = inputs, reads_ = nullptr;
    blocks_ = {}, steps_ = {};
  }
  /// Records a step, which is passed to its kernel in every replay.
  template <class Step>
  void record(Kernel kernel, Step const& step) {
    add(kernel, step);
  }
  /// kernel_of(step) returns the kernel. It is asked again when the step is to compute another one, too.
  template <class Step>
  void record(Kernel (*kernel_of)(Step const& step), Step const& step) {
    auto* const call = add(kernel_of(step), step);
    if constexpr (can_fuse<Step>) {
      if (call) last_two<Step>().last = {call, kernel_of};
    }
  }
  /// Records a call of any other kernel.
  template <class... Parameters, class... Args>
  void record(void (*kernel)(Parameters...), Args const&... args) {
    using Call = std::tuple<void (*)(Parameters...), std::remove_cvref_t<Parameters>...>;
    record(call<Call>, Call{kernel, args...});
  }
  /// Lets a call that was just recorded, of a Step, compute this one, too; returns whether it can.
  template <class Step>
  bool fuse_product(Step const& step) {
    auto const [last, before] = last_two<Step>();
    return inputs_.empty() && last.call && last.changes(fuse(last.call->step, step));
  }
  template <class Step>
  bool fuse_total(SignalMap<> const& step) {
    auto const [last, before] = last_two<Step>();
    if (!inputs_.empty() || !last.call) return false;
    return last.changes(fuse(last.call->step, nullptr, step)) ||
           (before.call && before.changes(fuse(before.call->step, &last.call->step, step)));
  }
  /// The bytes that all calls need. fits() says whether the memory was large enough for them.
  std::size_t size() const { return size_; }
  bool fits() const { return size_ <= capacity_; }

  __attribute__((always_inline)) void play() const {
    for (std::byte const *at = memory_, *const end = at + size_; at != end;) {
      auto const& call = *reinterpret_cast<Header const*>(at);
      call.kernel(&call + 1);
      at += call.size;
    }
  }
  void play(Inputs inputs) const {
    for (Read const* read = reads_; read; read = read->next) *read->pointer = inputs[read->input].data() + read->offset;
    play();
  }

 private:
  /// A pointer of a call into an input, which is an operand or is joined to the result. It is stored behind its call.
  struct alignas(std::max_align_t) Read {
    float const** pointer;
    std::size_t input;
    Index offset;
    Read const* next;  // in the list of all reads
  };
  struct alignas(std::max_align_t) Header {
    Kernel kernel;
    std::size_t size;  // bytes of the call and its reads
  };
  template <class Step>
  struct Recorded : Header {
    alignas(Header) Step step;  // directly behind the header
  };
  template <class Call>
  static void call(void const* call) {
    std::apply([](auto kernel, auto const&... args) { kernel(args...); }, *static_cast<Call const*>(call));
  }
  /// The last two calls, where these are of a Step.
  template <class Step>
  struct LastTwo {
    struct One {
      Recorded<Step>* call = nullptr;
      Kernel (*kernel_of)(Step const& step) = nullptr;

      /// Returns `changed`. A step that has changed may need another kernel.
      bool changes(bool changed) const {
        if (changed) call->kernel = kernel_of(call->step);
        return changed;
      }
    };
    One last = {}, before = {};
    void next() { before = std::exchange(last, {}); }
  };
  template <class Step>
  static constexpr bool can_fuse = std::is_same_v<Step, FusedBlock> || std::is_same_v<Step, FusedStep>;
  template <class Step>
  LastTwo<Step>& last_two() {
    if constexpr (std::is_same_v<Step, FusedBlock>) {
      return blocks_;
    } else {
      return steps_;
    }
  }
  static constexpr int shift = 56;
  /// Returns null if the call does not fit.
  template <class Step>
  Recorded<Step>* add(Kernel kernel, Step const& step) {
    static_assert(alignof(Step) <= alignof(std::max_align_t) && std::is_trivially_destructible_v<Step>);
    blocks_.next(), steps_.next();
    void* const at = take(sizeof(Recorded<Step>));
    if (!at) return nullptr;
    auto* const call = new (at) Recorded<Step>{{kernel, sizeof(Recorded<Step>)}, step};
    for_reads(call->step, [&](float const*& pointer) { note(*call, pointer); });
    return call;
  }
  /// Takes `size` more bytes; returns null if they do not fit.
  void* take(std::size_t size) {
    std::size_t const at = size_;
    size_ += size;
    return fits() ? memory_ + at : nullptr;
  }
  void note(Header& call, float const*& pointer) {
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      auto const start = reinterpret_cast<std::uintptr_t>(stand_in(k));
      if (address < start || address - start >= inputs_[k].size_bytes()) continue;
      void* const at = take(sizeof(Read));
      if (!at) return;
      reads_ = new (at) Read{&pointer, k, pointer - stand_in(k), reads_};
      call.size += sizeof(Read);
    }
  }
  /// Calls f(pointer) for every pointer of a call's arguments that may point into an input.
  template <class F>
  static void for_reads(In& x, F f) {
    f(x.data);
  }
  template <class F>
  static void for_reads(Sequence<float const>& x, F f) {
    f(x.data);
  }
  template <class F>
  static void for_reads(Recurrence<float>& r, F f) {
    f(r.x.data);
  }
  template <class F>
  static void for_reads(PostOps<ErasedChain, float>& post_ops, F f) {
    f(post_ops.join.other);
  }
  template <class Step, class F>
  static void for_reads(Step& step, F f) {
    if constexpr (requires { f(step.x); }) f(step.x);  // not signals, which are in one place
    if constexpr (requires { step.post_ops; }) for_reads(step.post_ops, f);
  }
  template <class... Parts, class F>
  static void for_reads(std::tuple<Parts...>& parts, F f) {
    std::apply([&](auto&... all) { (for_reads(all, f), ...); }, parts);
  }

  std::byte* memory_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  Inputs inputs_;  // of the calls that are being recorded
  Read const* reads_ = nullptr;
  LastTwo<FusedBlock> blocks_;
  LastTwo<FusedStep> steps_;
};

/// The recorded calls of a pass over one sample of `input` values, which a stream replays at every step. They are
/// recorded when the pass runs for the second time in a row with the same memory, so a pass that writes a different
/// state each time records nothing.
template <Index input, std::size_t capacity>
class RepeatedCalls {
 public:
  RepeatedCalls() = default;
  // The calls contain addresses of the other object's memory, so they are not copied.
  RepeatedCalls(RepeatedCalls const&) {}
  RepeatedCalls& operator=(RepeatedCalls const&) {
    forget();
    return *this;
  }

  /// Copies the sample to the place where the calls read it.
  __attribute__((always_inline)) std::span<float const> take(std::span<float const> x) {
    __builtin_memcpy(sample_, x.data(), sizeof sample_);  // at -O2 a loop would not become a block copy
    return {sample_, static_cast<std::size_t>(input)};
  }
  __attribute__((always_inline)) bool are_of(float const* parameters, float const* state, std::uint64_t seed) const {
    return kept_ && parameters == parameters_ && state == state_ && seed == seed_;
  }
  __attribute__((always_inline)) void make() const { tape_.play(); }
  /// pass(tape) records all calls, or makes them if `tape` is null.
  template <class Pass>
  void keep(float const* parameters, float const* state, std::uint64_t seed, Pass pass) {
    bool const again = parameters == parameters_ && state == state_ && seed == seed_ && !too_long_;
    kept_ = false, parameters_ = parameters, state_ = state, seed_ = seed;
    if (!again) return pass(nullptr);
    tape_.start(memory_);
    pass(&tape_);
    kept_ = tape_.fits(), too_long_ = !kept_;
    kept_ ? make() : pass(nullptr);
  }
  void forget() { kept_ = false, parameters_ = nullptr; }

 private:
  alignas(alignment) float sample_[static_cast<std::size_t>(input)];
  alignas(std::max_align_t) std::byte memory_[capacity];
  Tape tape_;
  bool kept_ = false, too_long_ = false;
  float const *parameters_ = nullptr, *state_ = nullptr;
  std::uint64_t seed_ = 0;
};

}  // namespace coldpress::cpu
