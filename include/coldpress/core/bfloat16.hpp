// bfloat16: the upper half of a float. The range stays, of the 24 bits of precision 8 are left.
#pragma once

#include <cstdint>

namespace coldpress {

struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  /// Rounds to the nearest, ties to even; a NaN stays one.
  explicit constexpr Bfloat16(float value) {
    auto const all = __builtin_bit_cast(std::uint32_t, value);
    bits = static_cast<std::uint16_t>(value == value ? (all + 0x7fff + (all >> 16 & 1)) >> 16 : all >> 16 | 0x40);
  }
  explicit constexpr operator float() const { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }
};

}  // namespace coldpress
