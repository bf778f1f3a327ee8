// The layer HardSigmoid: a straight line held between 0 and 1.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct HardSigmoidOp {
  static constexpr bool needs_input = false, heavy = false;  // y is 0 or 1 where the line is there or beyond
  float alpha, beta;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const line = Math<T>::fma(x, T{} + alpha, T{} + beta), raised = line < T{} ? T{} : line;
    return raised > T{} + 1 ? T{} + 1 : raised;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    T const below = y < T{} + 1 ? T{} + alpha : T{};
    return y > T{} ? below : T{};
  }
};

/// y = alpha x + beta, but at least 0 and at most 1. The default is PyTorch's, min(max(x + 3, 0), 6) / 6, whose slope
/// is 1/6; that of ONNX and of Keras before 3 is 0.2.
struct HardSigmoid {
  static constexpr std::string_view name = "hard_sigmoid";
  float alpha = 1.0f / 6, beta = 0.5f;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(alpha > 0 && is_finite(alpha) && is_finite(beta),
            "hard_sigmoid: alpha must be a finite number above 0, and beta a finite number");
    return in;
  }
  constexpr HardSigmoidOp op(std::uint64_t) const { return {alpha, beta}; }
  bool operator==(HardSigmoid const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::HardSigmoid, alpha, beta);
