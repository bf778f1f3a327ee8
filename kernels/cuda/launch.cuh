// Has other files launch the bodies of bodies.hpp.
#pragma once

#include "bodies.hpp"

#include <coldpress/backend/cuda/kernel.hpp>

namespace coldpress::cuda {

template <class Body>
void launch(Device& device, Grid const& grid, Body const& body) {
  launch_by<void>(device, grid, body);
}

/// Makes launch for these bodies: nothing here calls it, but other files do.
template <class... Bodies>
void make() {
  void const* const volatile made[] = {reinterpret_cast<void const*>(&launch<Bodies>)...};
  static_cast<void>(made);
}

}  // namespace coldpress::cuda
