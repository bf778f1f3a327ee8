// A kernel for each body: what all threads of a grid do with some numbers and addresses.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

#if defined __CUDACC__
/// All threads of a grid do what a body says.
template <class Body>
__global__ void __launch_bounds__(grid::threads, 1) run(Grid grid, Body const body) {
  extern __shared__ float shared[];
  grid.start(shared);
  body(grid);
}
#endif
/// The same by a host.
template <class Body>
void loops(void const* arguments, grid::Host const& host) {
  grid::host() = host;
  auto const [grid, body] = *static_cast<Arguments<Body> const*>(arguments);
  body(grid);
}
/// What a body asks for.
template <class Body>
grid::Demand demand_of(Grid const& grid, Body const& body) {
  if constexpr (requires { body.demand(); }) {
    return body.demand();
  } else {
    return grid::demand_of(grid, [&] { body(Grid{grid}); });
  }
}

/// Has all threads of the device's grid call the body. `By` says whose code this is: nvcc's and other compilers'
/// differ.
template <class By, class Body>
void launch_by(Device& device, Grid const& grid, Body const& body) {
  Call call{};
#if defined __CUDACC__
  call.kernel = reinterpret_cast<void const*>(run<Body>);
#else
  if (!device.emulated())
    throw UnsupportedError{"'" + device.name() +
                           "': this network was not compiled by nvcc; do that, or run it by its config"};
#endif
  call.loops = loops<Body>;
  device.gather(call, demand_of(grid, body), grid, body);
}

}  // namespace coldpress::cuda
