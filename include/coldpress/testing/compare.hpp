// Comparison of numbers in tests: bit for bit, or within the bound that float arithmetic allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace coldpress::testing {

/// Whether all bits are equal: 0 is not -0, and a NaN equals itself.
template <class A, class B>
bool same_bits(A const& a, B const& b) {
  return std::size(a) == std::size(b) &&
         std::memcmp(std::data(a), std::data(b), std::size(a) * sizeof *std::data(a)) == 0;
}

/// The largest difference as a multiple of 8 eps sqrt(terms) times the largest reference value; at most 1 is correct.
/// `terms` is the length of the longest sum, and `largest` its largest term if the terms cancel. Infinite if sizes
/// differ or a value is not finite.
template <class A>
double excess(A const& values, std::span<double const> reference, double terms, double largest = 0) {
  double difference = 0;
  if (std::size(values) != reference.size()) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < reference.size(); ++i) {
    double const d = std::abs(static_cast<double>(std::data(values)[i]) - reference[i]);
    if (!(d <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(reference[i]));
    difference = std::max(difference, d);
  }
  return difference == 0 ? 0 : difference / (8 * 0x1p-24 * std::sqrt(terms) * largest);
}

template <class T, class Values>
std::vector<T> copy_of(Values const& values) {
  return std::vector<T>(std::begin(values), std::end(values));
}

}  // namespace coldpress::testing
