// The recorded calls of a stream's passes, for backends that record calls.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace coldpress {

/// Records nothing.
template <class Backend>
class TapeOf {
 public:
  template <class Pass>
  void record(Pass) {}
  bool play() const { return false; }
};
template <class Backend>
requires requires(Backend backend) { backend.tape->play(); }
class TapeOf<Backend> {
 public:
  /// pass(tape) makes all calls.
  template <class Pass>
  void record(Pass pass) {
    recorded_ = false;
    for (bytes_.resize(256);; bytes_.resize(tape_.size())) {
      tape_.start({bytes_.data(), bytes_.size()});
      pass(&tape_);
      if (tape_.fits()) break;
    }
    recorded_ = true;
  }
  /// Repeats the calls; returns false if there are none.
  bool play() const {
    if (recorded_) tape_.play();
    return recorded_;
  }

 private:
  std::remove_pointer_t<decltype(Backend::tape)> tape_;
  std::vector<std::byte> bytes_;
  bool recorded_ = false;
};

}  // namespace coldpress
