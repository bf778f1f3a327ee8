// Copies of inputs that a pass would overwrite while it reads them: the results of a pass before it in the same memory.
#pragma once

#include <coldpress/core/memory.hpp>

namespace coldpress {

/// `Memory` is HeapMemory, which stays empty until a result becomes an input, or FixedMemory for all inputs. `views`:
/// results may be views of inputs, and so of copies. These are replaced, too, which takes a second memory.
template <class Memory, bool views = true>
class InputCopies {
 public:
  /// Replaces the inputs that is_result(first value) finds in the memory of the pass by copies, which last until others
  /// are made. Returns whether it has made some.
  template <class Inputs, class IsResult>
  bool replace(Inputs&& inputs, IsResult is_result) {
    Index size = 0;
    bool any = false;
    for (auto const& values : inputs) {
      size += static_cast<Index>(values.size());
      any = any || is_result(values.data());
    }
    if (!any) return false;
    int const next = views ? 1 - now_ : 0;
    memories_[next].reserve(size);
    auto* place = memories_[next].data();
    for (auto& values : inputs) {
      if (is_result(values.data()) || (views && holds(values.data()))) {
        __builtin_memcpy(place, values.data(), values.size_bytes());
        values = {place, values.size()};
      }
      place += values.size();
    }
    now_ = next;
    return true;
  }
  /// The memory of the copies.
  auto const* data() const { return memories_[now_].data(); }
  template <class T>
  bool holds(T const* value) const {
    return is_among(value, data(), memories_[now_].size());
  }

 private:
  Memory memories_[views ? 2 : 1];
  int now_ = 0;
};

}  // namespace coldpress
