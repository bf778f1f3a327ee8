// bfloat16: the upper half of a float, with the same range and 8 of the 24 bits of precision.
#pragma once

#include <cstdint>

namespace coldpress {

struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  /// Rounds to nearest, ties to even. A NaN stays a NaN.
  explicit constexpr Bfloat16(float value) {
    auto const all = __builtin_bit_cast(std::uint32_t, value);
    bits = static_cast<std::uint16_t>(value == value ? (all + 0x7fff + (all >> 16 & 1)) >> 16 : all >> 16 | 0x40);
  }
  explicit constexpr operator float() const { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }
};

}  // namespace coldpress
