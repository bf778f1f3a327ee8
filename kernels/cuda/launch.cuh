// Defines launch() for bodies of bodies.hpp in .cu files, for other files to call.
#pragma once

#include "bodies.hpp"

#include <coldpress/cuda/kernel.hpp>

namespace coldpress::cuda {

template <class Body>
void launch(Device& device, Grid const& grid, Body const& body) {
  launch_by<void>(device, grid, body);
}

/// Instantiates launch() for these bodies. Nothing in the .cu file calls it, but other files do.
template <class... Bodies>
void make() {
  void const* const volatile made[] = {reinterpret_cast<void const*>(&launch<Bodies>)...};
  static_cast<void>(made);
}

}  // namespace coldpress::cuda
