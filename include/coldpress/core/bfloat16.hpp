// bfloat16: the upper half of a float, with the same range and 8 of the 24 bits of precision.
#pragma once

#include <cstdint>

namespace coldpress {

struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  /// Rounds to nearest, ties to even. A NaN stays a NaN.
  explicit constexpr Bfloat16(float value)
      : bits(static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, rounded(value)) >> 16)) {}
  /// The same as a float, for loops that would only widen it again.
  static constexpr float rounded(float value) {
    auto const all = __builtin_bit_cast(std::uint32_t, value);
    std::uint32_t const near = value == value ? all + 0x7fff + (all >> 16 & 1) : all | 0x400000;
    return __builtin_bit_cast(float, near & 0xffff0000);
  }
  explicit constexpr operator float() const { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }
};

}  // namespace coldpress
