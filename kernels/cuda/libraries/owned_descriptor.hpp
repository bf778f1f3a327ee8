// A descriptor of cuDNN's older API that destroys itself.
#pragma once

#include <coldpress/core/shape.hpp>

#include <limits>
#include <memory>
#include <type_traits>

#include "descriptor.hpp"

namespace coldpress::cuda {

template <class T, auto create, auto destroy>
class OwnedDescriptor {
 public:
  OwnedDescriptor() {
    T made = nullptr;
    check(create(&made), "creating a descriptor");
    owned_.reset(made);
  }
  T get() const { return owned_.get(); }

 private:
  struct Destroy {
    void operator()(T made) const { destroy(made); }
  };
  std::unique_ptr<std::remove_pointer_t<T>, Destroy> owned_;
};

/// Converts a size to int, which this API takes.
inline int int_of(Index size) {
  require(size <= std::numeric_limits<int>::max(), "network: cuDNN accepts no size above 2^31 - 1");
  return static_cast<int>(size);
}
/// The advice if a function refuses what it should accept.
inline constexpr char const* to_report = "leave out .libraries, and report it";

}  // namespace coldpress::cuda
