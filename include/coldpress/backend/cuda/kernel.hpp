// One kernel for each body: what all threads of a grid do with some numbers and addresses.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

#if defined __CUDACC__
template <class Body>
__global__ void __launch_bounds__(grid::threads, 1) run(Grid grid, Body const body) {
  extern __shared__ float shared[];
  grid.shared = shared;
  body(grid);
}

/// Has the device run the body's kernel; where the host stands in for one, calls the body.
template <class Body>
void start(Device& device, Grid const& grid, Body const& body) {
  if (device.emulated()) return body(grid);
  void* arguments[] = {const_cast<Grid*>(&grid), const_cast<Body*>(&body)};
  start(device, reinterpret_cast<void const*>(run<Body>), arguments);
}
#else
/// There are no kernels in what another compiler makes.
template <class Body>
void start(Device& device, Grid const& grid, Body const& body) {
  if (device.emulated()) return body(grid);
  throw UnsupportedError{"'" + device.name() +
                         "': this network was not compiled by nvcc; do so, or use coldpress::dynamic"};
}
#endif

}  // namespace coldpress::cuda
