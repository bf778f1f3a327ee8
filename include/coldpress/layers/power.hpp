// The layer Power: a power of a linear function of each value.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct PowerOp {
  static constexpr bool needs_input = true, heavy = true;
  float power, scale, shift;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return raised(base(x), power);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T, Position) const {
    float const factor = power * scale;
    return factor == 0 ? T{} : factor * raised(base(x), power - 1);
  }

 private:
  template <class T>
  __attribute__((always_inline)) constexpr T base(T x) const {
    return Math<T>::fma(x, T{} + scale, T{} + shift);
  }
  /// base^power. Small multiples of 1/2 are computed by multiplications and a square root, which round less; other
  /// powers go through the logarithm.
  template <class T>
  __attribute__((always_inline)) static constexpr T raised(T base, float power) {
    int const halves = power >= -4 && power <= 4 ? static_cast<int>(2 * power) : 0,
              count = halves < 0 ? -halves : halves;
    if (static_cast<float>(halves) != 2 * power) return Math<T>::pow(base, power);
    T product = count % 2 ? Math<T>::sqrt(base) : T{} + 1;
    for (int n = 1; n < count; n += 2) product = product * base;
    return halves < 0 ? 1 / product : product;
  }
};

/// y = (scale x + shift)^power; NaN if a negative number is raised to a power that is not an integer.
struct Power {
  static constexpr std::string_view name = "power";
  float power = 1, scale = 1, shift = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(is_finite(power) && is_finite(scale) && is_finite(shift),
            "power: power, scale and shift must be finite numbers");
    return in;
  }
  constexpr PowerOp op(std::uint64_t) const { return {power, scale, shift}; }
  bool operator==(Power const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Power, power, scale, shift);
