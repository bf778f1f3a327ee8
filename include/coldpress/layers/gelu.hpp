// The layer GELU: Gaussian error linear units.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct GELUOp {
  static constexpr bool needs_input = true, heavy = true;
  bool approximate;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return gated(x, approximate ? Math<T>::sigmoid(argument(x)) : Math<T>::normal_cdf(x));
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T y, Position) const {
    if constexpr (requires { Math<T>::gelu_slope(x); }) {  // from a table
      if (!approximate) return Math<T>::gelu_slope(x);
    }
    T const gate = gate_of(x, y);
    if (approximate)
      return gate +
             gated(x * Math<T>::fma(x * x, Math<T>::number(3 * cubic), Math<T>::number(linear)), gate * (1 - gate));
    return gate + gated(x, Math<T>::exp(x * x * -0.5f) * Math<T>::number(0.39894228040143268));
  }

 private:
  static constexpr double linear = 1.5957691216057308, cubic = linear * 0.044715;  // 2 sqrt(2 / pi)
  /// 2 sqrt(2 / pi) (x + 0.044715 x^3), since (1 + tanh(a)) / 2 is sigmoid(2a).
  template <class T>
  __attribute__((always_inline)) static constexpr T argument(T x) {
    return x * Math<T>::fma(x * x, Math<T>::number(cubic), Math<T>::number(linear));
  }
};

/// y = x P(X <= x), where X has the standard normal distribution; if `approximate`, x (1 + tanh(sqrt(2 / pi) (x +
/// 0.044715 x^3))) / 2. Hendrycks and Gimpel, "Gaussian error linear units" (2016).
struct GELU {
  static constexpr std::string_view name = "gelu";
  bool approximate = false;

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr GELUOp op(std::uint64_t) const { return {approximate}; }
  bool operator==(GELU const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::GELU, approximate);
