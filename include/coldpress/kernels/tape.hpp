// Calls of kernels, taken down once and played again: finding them anew takes longer than a small network.
#pragma once

#include <coldpress/kernels/table.hpp>

#include <memory>
#include <span>
#include <tuple>

namespace coldpress::cpu {

class Tape {
 public:
  using Inputs = std::span<std::span<float const> const>;

  /// Where input k is said to be while calls are taken down: at an address that no memory has, tagged or not. What they
  /// read there is in play read where the input is then.
  static float const* stand_in(std::size_t k) { return reinterpret_cast<float const*>((k + 1) << shift); }
  /// Begins anew, for inputs of such sizes.
  void start(Inputs inputs) { size_ = 0, inputs_ = inputs, reads_ = nullptr; }
  /// A step, which its kernel will be handed each time.
  template <class Step>
  void record(Kernel kernel, Step const& step) {
    static_assert(alignof(Step) <= alignof(std::max_align_t) && std::is_trivially_destructible_v<Step>);
    std::size_t const at = size_;
    size_ += (sizeof(Recorded<Step>) + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
             alignof(std::max_align_t);
    if (size_ > capacity_) return;
    auto& call = *new (memory_.get() + at) Recorded<Step>{{kernel, size_ - at, {}}, step};
    for_reads(call.step, [&](float const*& pointer) { note(call, pointer); });
  }
  /// A call of any other kernel.
  template <class... Parameters, class... Args>
  void record(void (*kernel)(Parameters...), Args const&... args) {
    using Call = std::tuple<void (*)(Parameters...), std::remove_cvref_t<Parameters>...>;
    record(call<Call>, Call{kernel, args...});
  }
  /// Makes room for what did not fit; whether it has to be taken down again.
  bool grow() {
    if (size_ <= capacity_) return false;
    reserve(size_);
    return true;
  }
  std::size_t size() const { return size_; }
  /// Room for a tape of that size; what is on it may be lost.
  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    memory_ = std::make_unique<std::byte[]>(size);
    capacity_ = size;
  }
  void play(Inputs inputs) const {
    for (Read const* read = reads_; read; read = read->next) *read->pointer = inputs[read->input].data() + read->offset;
    for (std::byte const *at = memory_.get(), *const end = at + size_; at != end;) {
      auto const& call = *reinterpret_cast<Header const*>(at);
      call.kernel(&call + 1);
      at += call.size;
    }
  }

 private:
  /// What a call reads of an input: with its sums, or with what is joined to them.
  struct Read {
    float const** pointer;
    std::size_t input;
    Index offset;
    Read const* next;  // of all calls
  };
  struct alignas(std::max_align_t) Header {
    Kernel kernel;
    std::size_t size;
    Read reads[2];
  };
  template <class Step>
  struct Recorded : Header {
    Step step;  // right behind the header
  };
  template <class Call>
  static void call(void const* call) {
    std::apply([](auto kernel, auto const&... args) { kernel(args...); }, *static_cast<Call const*>(call));
  }
  static constexpr int shift = 56;
  void note(Header& call, float const*& pointer) {
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      auto const start = reinterpret_cast<std::uintptr_t>(stand_in(k));
      if (address < start || address - start >= inputs_[k].size_bytes()) continue;
      Read& read = call.reads[call.reads[0].pointer ? 1 : 0];
      read = {&pointer, k, pointer - stand_in(k), reads_};
      reads_ = &read;
    }
  }
  /// f(pointer) for all that may be an input.
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
  static void for_reads(Then<ErasedChain, float>& then, F f) {
    f(then.join.other);
  }
  template <class Step, class F>
  static void for_reads(Step& step, F f) {
    if constexpr (requires { step.x; }) f(step.x);
    if constexpr (requires { step.then; }) for_reads(step.then, f);
  }
  template <class... Parts, class F>
  static void for_reads(std::tuple<Parts...>& parts, F f) {
    std::apply([&](auto&... all) { (for_reads(all, f), ...); }, parts);
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0, capacity_ = 0;
  Inputs inputs_;  // of the calls that are being taken down
  Read const* reads_ = nullptr;
};

}  // namespace coldpress::cpu
