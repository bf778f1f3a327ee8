// Kernels of the bodies in bodies.hpp: one for each, which all threads of a grid start with its numbers.
#pragma once

#include "bodies.hpp"
#include "device.hpp"

namespace coldpress::cuda {

template <class Body>
__global__ void __launch_bounds__(grid::threads, 1) run(Grid grid, Body const body) {
  extern __shared__ float shared[];
  grid.shared = shared;
  body(grid);
}

/// The same by a host.
template <class Body>
void loops(void const* arguments) {
  auto const& [grid, body] = *static_cast<Arguments<Body> const*>(arguments);
  body(grid);
}
/// How many blocks a body has work for.
template <class Body>
Index blocks_for(Grid const& grid, Body const& body) {
  if constexpr (requires { body.blocks(); }) {
    return body.blocks();
  } else {
    struct Asking {
      Asking() { grid::asked_blocks() = &blocks; }
      ~Asking() { grid::asked_blocks() = nullptr; }
      Index blocks = 1;
    } const asking;
    body(grid);
    return asking.blocks;
  }
}

template <class Body>
void launch(Device& device, Grid const& grid, Body const& body) {
  static_assert(std::is_trivially_copyable_v<Arguments<Body>>);
  Arguments<Body> arguments{grid, body};
  Call call{};
  call.kernel = reinterpret_cast<void const*>(run<Body>), call.loops = loops<Body>;
  call.blocks = static_cast<int>(freestanding::smaller(blocks_for(grid, body), all_blocks));
  call.body = static_cast<std::size_t>(reinterpret_cast<char*>(&arguments.body) - reinterpret_cast<char*>(&arguments));
  call.size = sizeof arguments;
  device.gather(call, &arguments);
}

/// Makes launch for these bodies: nothing here calls it, but other files do.
template <class... Bodies>
void make() {
  void const* const volatile made[] = {reinterpret_cast<void const*>(&launch<Bodies>)...};
  static_cast<void>(made);
}

}  // namespace coldpress::cuda
