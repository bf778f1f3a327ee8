// What a network does in one go, as values: a device is sent them, and the host calls them.
#pragma once

#include <coldpress/graph/execute.hpp>

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

/// Losses and statistics, too.
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

/// From the outputs' gradients, which the user gives, to those of inputs and parameters.
struct BackwardOf {
  static constexpr std::string_view name = "backward";
  template <class Run, class T, std::size_t n>
  constexpr void operator()(Run const& run, std::array<T const*, n> const& outputs, T* gradients) const {
    using Program = std::remove_cvref_t<decltype(run.program)>;
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (seed_gradient(run, Program::output(std::integral_constant<int, k>{}), outputs[k]), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(n)>{});
    backward(run, GradientSinks<T>{{gradients}, run.program.slots()});
  }
};

}  // namespace coldpress
