// Copies of inputs that a pass would overwrite while it reads them: the results of a pass before it in the same memory.
#pragma once

#include <coldpress/core/memory.hpp>

#include <span>
#include <utility>

namespace coldpress {

/// `Memory` is HeapMemory, which stays empty until a result becomes an input, or FixedMemory for all inputs.
template <class Memory>
class InputCopies {
 public:
  /// Replaces the inputs whose first value is_result(value) finds in the memory of the pass by copies, which last until
  /// others are made. A network of views returns such a copy as its result, so that it may come back as an input.
  template <class Inputs, class IsResult>
  void replace(Inputs&& inputs, IsResult is_result) {
    Index size = 0;
    bool any = false;
    for (auto const& values : inputs) {
      size += static_cast<Index>(values.size());
      any = any || is_result(values.data());
    }
    if (!any || size > Memory::capacity) return;  // inputs of a wrong size are refused later
    memory_.reserve(size);
    auto* place = memory_.data();
    made_at_ = place;
    for (auto& values : inputs) {
      if (is_result(values.data()) || is_among(values.data(), memory_.data(), memory_.size())) {
        __builtin_memmove(place, values.data(), values.size_bytes());
        values = {place, values.size()};
      }
      place += values.size();
    }
  }

  /// Values that replace() copied are in the memory of this object even if it is a copy of the one that copied them.
  template <class Values>
  Values own(Values const& values) const {
    if (!is_among(values.data(), made_at_, memory_.size())) return values;
    return {memory_.data() + (values.data() - made_at_), values.size()};
  }

 private:
  Memory memory_;
  decltype(std::as_const(memory_).data()) made_at_ = nullptr;
};

}  // namespace coldpress
