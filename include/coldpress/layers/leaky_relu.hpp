// The layer LeakyReLU: linear units with a small slope for negative values.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct LeakyReLUOp {
  static constexpr bool needs_input = false, heavy = false;  // y has the sign of x, because slope is not negative
  float slope;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x > T{} ? x : Math<T>::multiply(T{} + slope, x);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y > T{} ? T{} + 1 : T{} + slope;
  }
};

/// y = x for positive x, else slope x (Mocha's LReLU).
struct LeakyReLU {
  static constexpr std::string_view name = "leaky_relu";
  float slope = 0.01f;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(slope >= 0 && is_finite(slope), "leaky_relu: slope must be a finite number of at least 0");
    return in;
  }
  constexpr LeakyReLUOp op(std::uint64_t) const { return {slope}; }
  bool operator==(LeakyReLU const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LeakyReLU, slope);
