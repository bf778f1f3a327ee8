// Waves over the steps of a sequence, from which layers make positions.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress {

/// Multiply-adds that take about as long as one sine.
inline constexpr Index wave_cost = 100;

/// The angle of pair i of `features / 2` at a step: step / base^(2i / features), in double precision, because the angle
/// of a late step has few digits left after the point.
COLDPRESS_DEVICE inline double position_angle(double base, double step, Index pair, Index features) {
  double const exponent = static_cast<double>(2 * pair) / static_cast<double>(features);
  return step * freestanding::exp(-exponent * freestanding::log(base));
}

}  // namespace coldpress
