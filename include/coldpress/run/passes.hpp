// The passes of a network as function objects, which the host calls and which are sent to a device.
#pragma once

#include <coldpress/run/execute.hpp>

#include <string_view>
#include <utility>

namespace coldpress {

struct ForwardOf {
  static constexpr std::string_view name = "forward";
  template <class Run>
  __attribute__((always_inline)) constexpr void operator()(Run const& run) const {
    forward(run);
  }
};

/// Forward, with the losses and statistics.
struct EvaluationOf {
  static constexpr std::string_view name = "evaluation";
  template <class Run>
  constexpr void operator()(Run const& run) const {
    forward(run);
    loss_and_gradient(run, Ignored{});
  }
  struct Ignored {
    constexpr void operator()(auto, auto) const {}
  };
};

/// Backward, from the gradients of the outputs, which the user gives, to those of inputs and parameters.
struct BackwardOf {
  static constexpr std::string_view name = "backward";
  template <class Run, class T, std::size_t n>
  constexpr void operator()(Run const& run, std::array<T const*, n> const& outputs, T* gradients) const {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (seed_gradient(run, run.program.output(std::integral_constant<int, k>{}), outputs[k]), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(n)>{});
    backward(run, GradientSinks<T>{{gradients}, run.program.slots()});
  }
};

}  // namespace coldpress
