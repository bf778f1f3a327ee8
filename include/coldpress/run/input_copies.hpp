// Copies of inputs that a pass would overwrite while it reads them: the results of a pass before it in the same memory.
#pragma once

#include <coldpress/core/memory.hpp>

#include <type_traits>

namespace coldpress {

/// `Memory` is HeapMemory, which stays empty until a result becomes an input, or FixedMemory for all inputs that may be
/// results. `views`: results may be views of inputs, and so of copies. These are replaced, too, which takes a second
/// memory.
template <class Memory, bool views = true>
class InputCopies {
 public:
  /// Replaces the inputs that is_result(first value) finds in the memory of the pass by copies, which last until others
  /// are made. Returns whether it has made some.
  template <class Inputs, class IsResult>
  bool replace(Inputs& inputs, IsResult is_result) {
    bool any = false;
    for (auto const& values : inputs) any = any || is_result(values.data());
    if (!any) return false;
    auto replaced = inputs;  // so that `inputs` need not be in memory where there is nothing to do
    copy(replaced, is_result);
    inputs = replaced;
    return true;
  }
  /// The same where some inputs are known to be results. It is rarely called.
  template <class Inputs, class IsResult>
  __attribute__((noinline, cold)) void copy(Inputs& inputs, IsResult is_result) {
    auto const is_copied = [&](auto const& values) {
      return is_result(values.data()) || (views && holds(values.data()));
    };
    Index size = 0;
    for (auto const& values : inputs) size += is_copied(values) ? static_cast<Index>(values.size()) : 0;
    int const next = views ? 1 - now_ : 0;
    memories_[next].reserve(size);
    auto* place = memories_[next].data();
    for (auto& values : inputs) {
      if (!is_copied(values)) continue;
      __builtin_memcpy(place, values.data(), values.size_bytes());
      values = {place, values.size()};
      place += values.size();
    }
    now_ = next;
  }
  /// The memory of the copies.
  auto const* data() const { return memories_[now_].data(); }
  template <class T>
  bool holds(T const* value) const {
    return is_among(value, data(), memories_[now_].size());
  }

 private:
  /// The number of the only memory, which takes no room.
  struct First {
    constexpr operator int() const { return 0; }
    constexpr First& operator=(int) { return *this; }
  };
  Memory memories_[views ? 2 : 1];
  [[no_unique_address]] std::conditional_t<views, int, First> now_{};
};

}  // namespace coldpress
