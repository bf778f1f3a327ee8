// The window of the last samples that an evaluator has seen.
#pragma once

#include <coldpress/core/shape.hpp>

#include <deque>
#include <optional>

namespace coldpress {

/// A first-in, first-out queue; unbounded if no capacity is set.
template <class Sample>
class Window {
 public:
  /// The capacity must be at least 1. Samples beyond it are dropped immediately, the oldest first.
  void set_capacity(std::optional<Index> capacity) {
    if (capacity && *capacity < 1) refuse("evaluator: the capacity must be at least 1, is ", *capacity);
    capacity_ = capacity;
    trim();
  }
  void add(Sample sample) { samples_.push_back(sample), trim(); }
  std::deque<Sample> const& samples() const { return samples_; }

 private:
  void trim() {
    while (capacity_ && static_cast<Index>(samples_.size()) > *capacity_) samples_.pop_front();
  }
  std::deque<Sample> samples_;
  std::optional<Index> capacity_;
};

}  // namespace coldpress
