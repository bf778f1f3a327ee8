// Which samples of a data set are held out: how many, and in what order they are taken.
#pragma once

#include <coldpress/core/counted.hpp>
#include <coldpress/core/error.hpp>
#include <coldpress/core/shape.hpp>

#include <cmath>
#include <string>

namespace coldpress::data {

/// The epoch whose order of the samples decides which are held out: no training comes to it.
inline constexpr std::uint64_t epoch_of_splits = ~std::uint64_t{0};

/// `fraction` of `size` samples. Throws ConfigError unless there is at least one in it, and one is left.
inline Index held_out_count(Index size, double fraction) {
  double const wanted = std::round(fraction * static_cast<double>(size));
  if (!(wanted >= 1 && wanted < static_cast<double>(size)))
    throw ConfigError{"holding out the fraction " + std::to_string(fraction) + " of " + counted(size, "sample") +
                      " leaves one of the parts empty"};
  return static_cast<Index>(wanted);
}

}  // namespace coldpress::data
