// The Mackey-Glass series, a chaotic series to forecast, and windows over a series.
#pragma once

#include <coldpress/data/dataset.hpp>

#include <span>
#include <vector>

namespace coldpress::data {

/// The equation dx/dt = beta x(t - tau) / (1 + x(t - tau)^exponent) - gamma x, with x(t) = initial for t <= 0. It is
/// integrated by the fourth-order Runge-Kutta method in steps of `step`; delayed values between steps are interpolated
/// by cubic Hermite polynomials.
struct MackeyGlass {
  double beta = 0.2, gamma = 0.1, tau = 17, initial = 1.2;
  int exponent = 10;
  double step = 0.1;
  int steps_per_sample = 10;  // one value per unit of time
  Index warm_up = 500;        // values to drop, until the series is on its attractor
};

/// The first `length` values after the warm-up. They are the same on every machine, because only additions,
/// multiplications and divisions are used. Throws ConfigError if a parameter makes no sense or the series leaves the
/// range of numbers.
std::vector<float> series(MackeyGlass const& equation, Index length);

/// One sample for every place in `series`: `window` consecutive values as sample {window}, and the value `ahead` places
/// after the last of them as target {1}. Throws ConfigError if the series is shorter than window + ahead.
Dataset windows(std::span<float const> series, Index window, Index ahead);

}  // namespace coldpress::data
