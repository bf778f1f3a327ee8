// A tape that owns its memory, for networks from configs.
#pragma once

#include <coldpress/kernels/tape.hpp>

#include <memory>

namespace coldpress::cpu {

class HeapTape : public Tape {
 public:
  void start(Inputs inputs) { Tape::start({memory_.get(), capacity_}, inputs); }
  /// If calls did not fit, makes room for them and returns true: they have to be recorded again.
  bool grow() {
    if (fits()) return false;
    reserve(size());
    return true;
  }
  /// Makes room for a tape of `size` bytes; what is recorded may be lost.
  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    memory_ = std::make_unique<std::byte[]>(size);
    capacity_ = size;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace coldpress::cpu
