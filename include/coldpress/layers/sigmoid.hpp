// The layer Sigmoid: the logistic function.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct SigmoidOp {
  static constexpr bool needs_input = false, heavy = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return Math<T>::sigmoid(x);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y * (1 - y);
  }
};

/// y = 1 / (1 + e^-x).
struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr SigmoidOp op(std::uint64_t) const { return {}; }
  bool operator==(Sigmoid const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Sigmoid);
