// The Mackey-Glass series, a chaotic one to forecast, and windows over a series.
#pragma once

#include <coldpress/data/dataset.hpp>

#include <span>
#include <vector>

namespace coldpress::data {

/// dx/dt = beta x(t - tau) / (1 + x(t - tau)^exponent) - gamma x, with x(t) = initial for t <= 0, integrated by
/// Runge-Kutta of fourth order in steps of `step`; delayed values between steps come from cubic Hermite interpolation.
struct MackeyGlass {
  double beta = 0.2, gamma = 0.1, tau = 17, initial = 1.2;
  int exponent = 10;
  double step = 0.1;
  int steps_per_sample = 10;  // one value per unit of time
  Index warm_up = 500;        // values not given, until the series is on its attractor
};

/// The first `length` values after the warm-up; the same everywhere, since only additions, multiplications and
/// divisions are used. Throws ConfigError for parameters that mean nothing and where the series leaves the range of
/// numbers.
std::vector<float> series(MackeyGlass const& equation, Index length);

/// One sample for every place in `series`: `window` values in a row as sample {window}, and the value `ahead` places
/// after the last of them as target {1}. Throws ConfigError where the series is shorter than window + ahead.
Dataset windows(std::span<float const> series, Index window, Index ahead);

}  // namespace coldpress::data
