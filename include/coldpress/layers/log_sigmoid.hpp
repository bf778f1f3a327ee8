// The layer LogSigmoid: the logarithm of the logistic function.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct LogSigmoidOp {
  static constexpr bool needs_input = false, heavy = true;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return -Math<T>::softplus(-x);
  }
  /// 1 - sigmoid(x), computed from the output.
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return -Math<T>::expm1(y);
  }
};

/// y = log(1 / (1 + e^-x))
struct LogSigmoid {
  static constexpr std::string_view name = "log_sigmoid";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr LogSigmoidOp op(std::uint64_t) const { return {}; }
  bool operator==(LogSigmoid const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LogSigmoid);
