// A descriptor of cuDNN's older functions that owns itself.
#pragma once

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

}  // namespace coldpress::cuda
