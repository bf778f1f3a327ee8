// What layers of positions have in common: steps, how a stream counts them, and waves over them.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress {

/// The steps of a sample {steps, features} or {features}.
constexpr Index steps_of(Shape const& in) { return in.size() / in.last(); }

/// Adds the steps of this pass to the state of a stream, which is their number so far.
constexpr void count_steps(auto const& backend, auto const& pass) {
  using T = typename std::remove_cvref_t<decltype(pass.x)>::Scalar;
  T* const counts = pass.state;
  if (counts) each_sample(backend, pass.x, [&](Index n) { counts[n] += static_cast<T>(steps_of(pass.in)); });
}

/// The input gradient of a layer that adds something to its input is a copy of its output gradient.
constexpr void pass_gradient_on(auto const& backend, auto const& pass) {
  each_part(backend, pass.dx, pass.in.size(), [&](Index n, auto first, Index last) {
    for (Index i = first; i < last; ++i) pass.dx.row(n)[i] = pass.dy.row(n)[i];
  });
}

/// Multiply-adds that take about as long as one sine.
inline constexpr Index wave_cost = 100;

/// The angle of pair i of `features / 2` at a step: step / base^(2i / features), in double precision, because the angle
/// of a late step has few digits left after the point.
COLDPRESS_DEVICE inline double position_angle(double base, double step, Index pair, Index features) {
  double const exponent = static_cast<double>(2 * pair) / static_cast<double>(features);
  return step * freestanding::exp(-exponent * freestanding::log(base));
}

}  // namespace coldpress
