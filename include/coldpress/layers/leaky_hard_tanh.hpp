// The layer LeakyHardTanh: values between two bounds, and small slopes beyond them.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct LeakyHardTanhOp {
  static constexpr bool needs_input = true, heavy = false;  // with a slope of 0, y does not say where x was
  float min_val, max_val, min_slope, max_slope;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const low = T{} + min_val, high = T{} + max_val;
    T const above = x > high ? Math<T>::fma(x - high, T{} + max_slope, high) : x;
    return x < low ? Math<T>::fma(x - low, T{} + min_slope, low) : above;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T, Position) const {
    T const above = x > T{} + max_val ? T{} + max_slope : T{} + 1;
    return x < T{} + min_val ? T{} + min_slope : above;
  }
};

/// y = x between min_val and max_val; beyond them it goes on from the bound with min_slope or max_slope.
struct LeakyHardTanh {
  static constexpr std::string_view name = "leaky_hard_tanh";
  float min_val = -1, max_val = 1, min_slope = 0.01f, max_slope = 0.01f;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(is_finite(min_val) && is_finite(max_val) && min_val < max_val,
            "leaky_hard_tanh: min_val and max_val must be finite numbers, and min_val the smaller one");
    require(is_finite(min_slope) && is_finite(max_slope),
            "leaky_hard_tanh: min_slope and max_slope must be finite numbers");
    return in;
  }
  constexpr LeakyHardTanhOp op(std::uint64_t) const { return {min_val, max_val, min_slope, max_slope}; }
  bool operator==(LeakyHardTanh const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LeakyHardTanh, min_val, max_val, min_slope, max_slope);
