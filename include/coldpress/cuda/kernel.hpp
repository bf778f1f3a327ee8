// Makes a kernel of a body, which is what all threads of a grid do with some numbers and addresses.
#pragma once

#include <coldpress/cuda/device.hpp>

namespace coldpress::cuda {

#if defined __CUDACC__
/// The kernel: all threads of a grid execute the body.
template <class Body>
__global__ void __launch_bounds__(grid::threads, 1) run(Grid grid, Body const body) {
  grid.start();
  body(grid);
}
#endif
/// The same as loops on the host.
template <class Body>
void loops(void const* arguments, grid::Host const& host) {
  grid::host() = host;
  auto const [grid, body] = *static_cast<Arguments<Body> const*>(arguments);
  body(grid);
}
/// The launch estimate for a body.
template <class Body>
grid::LaunchEstimate launch_estimate_of(Grid const& grid, Body const& body) {
  if constexpr (requires { body.estimate(); }) {
    return body.estimate();
  } else {
    return grid::launch_estimate_of(grid, [&] { body(Grid{grid}); });
  }
}

/// Adds the kernel of a body to the device's current pass. `By` says which compiler compiled the code, because nvcc's
/// and other compilers' functions differ.
template <class By, class Body>
void launch_by(Device& device, Grid const& grid, Body const& body) {
  Call call{};
#if defined __CUDACC__
  call.kernel = reinterpret_cast<void const*>(run<Body>);
#else
  if (!device.emulated())
    throw UnsupportedError{"'" + device.name() +
                           "': this network was not compiled by nvcc; compile it with nvcc, or run its config"};
#endif
  call.loops = loops<Body>;
  device.gather(call, launch_estimate_of(grid, body), grid, body);
}

}  // namespace coldpress::cuda
