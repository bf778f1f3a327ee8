// Numbers as files store them, little-endian, and the floats that they become.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace coldpress::data {

static_assert(std::endian::native == std::endian::little, "the numbers of a file are copied as they are");

/// IEEE 754's binary16, which every float can hold.
struct Half {
  std::uint16_t bits = 0;

  explicit operator float() const {
    std::uint32_t const sign = std::uint32_t{bits} >> 15, exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    if (exponent == 0) return std::ldexp(static_cast<float>(fraction), -24) * (sign ? -1.0f : 1.0f);
    std::uint32_t const wide = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign << 31 | wide << 23 | fraction << 13);
  }
};

/// Converts `count` values to the nearest floats, up to the first that is beyond their range; returns how many it has
/// converted.
template <class Value>
std::size_t to_floats(std::byte const* values, std::size_t count, float* floats) {
  for (std::size_t i = 0; i < count; ++i) {
    Value value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    if constexpr (std::is_same_v<Value, double>)
      if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return i;
    floats[i] = static_cast<float>(value);
  }
  return count;
}

}  // namespace coldpress::data
