// The complement of a share, such as the momentum of running statistics.
#pragma once

#include <charconv>

namespace coldpress::convert {

/// 1 - share for the decimal number that was meant: the shortest one of which `share` is the nearest float. So 0.9
/// gives 0.1, while 1 - 0.9f is 0.100000024f. The difference is computed in double and rounded once; a share of up to 7
/// decimals is the complement of its complement.
inline float complement(float share) {
  char digits[32];
  auto const written = std::to_chars(digits, digits + sizeof digits, share);
  double meant = 0;
  std::from_chars(digits, written.ptr, meant);
  return static_cast<float>(1 - meant);
}

}  // namespace coldpress::convert
