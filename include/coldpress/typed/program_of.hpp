// Which program a network type has on a backend, and how its passes get it.
#pragma once

#include <coldpress/typed/static_program.hpp>

namespace coldpress {

/// The program of a network type. For a backend with linked kernels it is a TabledProgram (typed/tabled_program.hpp).
/// It is not an alias, because nvcc loses the default argument of one.
template <class Graph, class Backend, PlanOptions options, auto loss_value = OwnLosses{}>
struct ProgramOf {
  static_assert(!is_linked<Backend>, "Network: for the backend LinkedCpu, include <coldpress/linked.hpp>");
  using type = StaticProgram<Graph, Backend, options, loss_value>;
};

/// What the passes of a network are given as their program. A backend with linked kernels finds the kernels here.
template <class Program, class Backend>
auto const& prepared(Program& program, Backend& backend, std::uint64_t seed) {
  if constexpr (is_linked<Backend>) {
    return program.prepare(backend, seed);
  } else {
    static_cast<void>(program), static_cast<void>(backend), static_cast<void>(seed);
    static constexpr Program constant{};
    return constant;
  }
}

/// A backend that is ready to compute outside of a network's passes.
template <class Backend>
Backend ready() {
  Backend backend{};
  if constexpr (is_linked<Backend>) backend.template link<true>();
  return backend;
}

/// What a workspace keeps for repeating a pass over one sample of `input` values that is `calls` calls of kernels.
template <class Backend, Index input, Index calls>
struct KeptCalls {
  using type = typename Backend::template RepeatedCalls<input, calls>;
};
template <class Backend, Index input>
struct KeptCalls<Backend, input, 0> {
  struct type {};
};

}  // namespace coldpress
