// The layer HardTanh: values held between two bounds.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct HardTanhOp {
  static constexpr bool needs_input = false, heavy = false;  // y is at a bound where x is at it or beyond
  float min_val, max_val;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const raised = x < T{} + min_val ? T{} + min_val : x;
    return raised > T{} + max_val ? T{} + max_val : raised;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    T const below = y < T{} + max_val ? T{} + 1 : T{};
    return y > T{} + min_val ? below : T{};
  }
};

/// y = x between min_val and max_val, else the nearer of the two; a NaN stays a NaN (PyTorch's Hardtanh).
struct HardTanh {
  static constexpr std::string_view name = "hard_tanh";
  float min_val = -1, max_val = 1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(is_finite(min_val) && is_finite(max_val) && min_val < max_val,
            "hard_tanh: min_val and max_val must be finite numbers, and min_val the smaller one");
    return in;
  }
  constexpr HardTanhOp op(std::uint64_t) const { return {min_val, max_val}; }
  bool operator==(HardTanh const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::HardTanh, min_val, max_val);
