// The layer Softplus: a smooth form of ReLU.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct SoftplusOp {
  static constexpr bool needs_input = false, heavy = true;
  float beta;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const scaled = Math<T>::multiply(T{} + beta, x);  // may be infinite where x is not
    return (x < T{} ? T{} : x) + Math<T>::softplus(x < T{} ? scaled : -scaled) / beta;
  }
  /// sigmoid(beta x), computed from the output.
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return -Math<T>::expm1(-beta * y);
  }
};

/// y = log(1 + e^(beta x)) / beta, computed as max(x, 0) + log(1 + e^-|beta x|) / beta.
struct Softplus {
  static constexpr std::string_view name = "softplus";
  float beta = 1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(beta > 0 && is_finite(beta), "softplus: beta must be a finite number above 0");
    return in;
  }
  constexpr SoftplusOp op(std::uint64_t) const { return {beta}; }
  bool operator==(Softplus const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Softplus, beta);
