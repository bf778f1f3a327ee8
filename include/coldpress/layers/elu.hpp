// The layer ELU: exponential linear units.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct ELUOp {
  static constexpr bool needs_input = false, heavy = true;  // y has the sign of x, because alpha is not negative
  float alpha;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x > T{} ? x : Math<T>::multiply(T{} + alpha, Math<T>::expm1(x));
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y > T{} ? T{} + 1 : y + alpha;
  }
};

/// y = x for positive x, else alpha (e^x - 1).
struct ELU {
  static constexpr std::string_view name = "elu";
  float alpha = 1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(alpha >= 0 && is_finite(alpha), "elu: alpha must be a finite number of at least 0");
    return in;
  }
  constexpr ELUOp op(std::uint64_t) const { return {alpha}; }
  bool operator==(ELU const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ELU, alpha);
