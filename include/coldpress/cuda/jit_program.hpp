// Included at the beginning of the source text of a config's pass: everything that its kernel is made of.
#pragma once

// kernels/cuda/fused/source.hpp writes such texts.

#include <coldpress/cuda/program.hpp>
#include <coldpress/graph/jit_graph.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/run/passes.hpp>
#include <coldpress/run/update.hpp>

#include <bit>

#if !defined __CUDACC_RTC__
#include <coldpress/cuda/pass.hpp>
#endif

namespace coldpress::cuda {

/// Sets a field from its bits.
template <class T>
constexpr void put(T& field, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    field = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    field = std::bit_cast<double>(bits);
  } else {
    field = static_cast<T>(bits);
  }
}
constexpr float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// A whole training step, which stores the mean losses in the order of the losses' groups.
struct JitStep {
  template <class Run, class Optimizer, class Gradients>
  constexpr void operator()(Run const& run, UpdateStep<Optimizer, float> const& update_step, Gradients gradients,
                            float* losses) const {
    auto const each = [&](auto g, float mean) {
      constexpr int place = losses_before<std::remove_cvref_t<decltype(run.program)>>(decltype(g)::value);
      coldpress::detail::once(run.backend, [&] { losses[place] = mean; });
    };
    if constexpr (std::is_null_pointer_v<Gradients>) {
      train_step(run, update_step, nullptr, each);
    } else {
      train_step(run, update_step, Given{gradients}, each);
    }
  }
  /// Gradients that go through memory, as a type: the compiler then knows that the address is not null.
  struct Given {
    float* at;
    constexpr operator float*() const { return at; }
    constexpr bool operator==(std::nullptr_t) const { return false; }
  };
  template <class Program>
  static constexpr int losses_before(int g) {
    int count = 0;
    for (int other = 0; other < g; ++other) count += Program::planned.groups[other].loss >= 0;
    return count;
  }
};

}  // namespace coldpress::cuda

/// Defines the kernel of a body; on a host, where tests call it, its loops.
#if defined __CUDACC_RTC__
#define COLDPRESS_KERNEL(Body)                                              \
  extern "C" __global__ void __launch_bounds__(coldpress::grid::threads, 1) \
      pass(coldpress::Grid grid, Body const body) {                         \
    grid.start();                                                           \
    body(grid);                                                             \
  }
#else
#define COLDPRESS_KERNEL(Body)                                                                     \
  extern "C" __attribute__((visibility("default"))) void pass(void const* arguments,               \
                                                              coldpress::grid::Host const& host) { \
    coldpress::grid::host() = host;                                                                \
    auto const all = *static_cast<coldpress::cuda::Arguments<Body> const*>(arguments);             \
    all.body(all.grid);                                                                            \
  }
#endif
