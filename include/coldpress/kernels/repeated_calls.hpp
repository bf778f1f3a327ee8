// Calls of kernels for one sample, kept with what they were handed. Where a stream goes on they are made again: working
// them out anew takes longer than a small layer.
#pragma once

#include <coldpress/backend/steps.hpp>
#include <coldpress/core/memory.hpp>

#include <cstddef>
#include <span>

namespace coldpress::cpu {

/// Where calls are put, one behind another.
class CallList {
 public:
  CallList(std::byte* memory, std::size_t capacity) : next_(memory), left_(capacity) {}
  template <class Step>
  void add(Kernel kernel, Step const& step) {
    static_assert(alignof(Step) <= alignof(Call) && std::is_trivially_copyable_v<Step>);
    constexpr std::size_t size = sizeof(Kept<Step>);
    if (size > left_) return void(fits_ = false);
    new (next_) Kept<Step>{{kernel, size}, step};
    next_ += size, left_ -= size;
  }
  /// Of a function object.
  template <class Function>
  void add(Function const& function) {
    add([](void const* kept) { (*static_cast<Function const*>(kept))(); }, function);
  }
  bool fits() const { return fits_; }
  std::byte const* end() const { return next_; }

  static void make(std::byte const* call, std::byte const* end) {
    while (call != end) {
      auto const& kept = *reinterpret_cast<Call const*>(call);
      kept.kernel(&kept + 1);
      call += kept.size;
    }
  }

 private:
  struct alignas(std::max_align_t) Call {
    Kernel kernel;
    std::size_t size;
  };
  template <class Step>
  struct Kept : Call {
    alignas(Call) Step step;  // right behind
  };
  std::byte* next_;
  std::size_t left_;
  bool fits_ = true;
};

/// The calls of a pass over one sample of `input` values, in a workspace. They are kept from the second time on that it
/// is made with the same memory: whoever goes from one state to the other keeps none.
template <Index input, std::size_t capacity>
class RepeatedCalls {
 public:
  RepeatedCalls() = default;
  // Addresses of the other's memory are in its calls.
  RepeatedCalls(RepeatedCalls const&) {}
  RepeatedCalls& operator=(RepeatedCalls const&) {
    forget();
    return *this;
  }

  /// Keeps the sample where the calls read it.
  __attribute__((always_inline)) std::span<float const> take(std::span<float const> x) {
    __builtin_memcpy(sample_, x.data(), sizeof sample_);  // -O2 leaves a loop as it is
    return {sample_, static_cast<std::size_t>(input)};
  }
  __attribute__((always_inline)) bool are_of(float const* parameters, float const* state, std::uint64_t seed) const {
    return end_ && parameters == parameters_ && state == state_ && seed == seed_;
  }
  __attribute__((always_inline)) void make() const { CallList::make(memory_, end_); }
  /// pass(list) makes the calls, and adds all of them to the list unless it is null.
  template <class Pass>
  void keep(float const* parameters, float const* state, std::uint64_t seed, Pass pass) {
    bool const again = parameters == parameters_ && state == state_ && seed == seed_ && !too_long_;
    end_ = nullptr, parameters_ = parameters, state_ = state, seed_ = seed;
    CallList list{memory_, capacity};
    pass(again ? &list : nullptr);
    if (again && list.fits()) end_ = list.end();
    too_long_ = too_long_ || !list.fits();
  }
  void forget() { end_ = nullptr, parameters_ = nullptr; }

 private:
  alignas(alignment) float sample_[static_cast<std::size_t>(input)];
  alignas(std::max_align_t) std::byte memory_[capacity];
  std::byte const* end_ = nullptr;  // null: none are kept
  float const *parameters_ = nullptr, *state_ = nullptr;
  std::uint64_t seed_ = 0;
  bool too_long_ = false;
};

}  // namespace coldpress::cpu
