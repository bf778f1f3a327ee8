// Kernels of the bodies in bodies.hpp: one for each, which all threads of a grid start with its numbers.
#pragma once

#include "bodies.hpp"
#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

template <class Body>
__global__ void __launch_bounds__(grid::threads, 1) run(Grid grid, Body const body) {
  extern __shared__ float shared[];
  grid.shared = shared;
  body(grid);
}

template <class Body>
void launch(Device& device, Grid const& grid, Body const& body) {
  if (device.emulated()) return body(grid);
  void* arguments[] = {const_cast<Grid*>(&grid), const_cast<Body*>(&body)};
  start(device, reinterpret_cast<void const*>(run<Body>), arguments);
}

/// Makes launch for these bodies: nothing here calls it, but other files do.
template <class... Bodies>
void make() {
  void const* const volatile made[] = {reinterpret_cast<void const*>(&launch<Bodies>)...};
  static_cast<void>(made);
}

}  // namespace coldpress::cuda
