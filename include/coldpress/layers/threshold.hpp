// The layer Threshold: replaces smaller values by a threshold.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct ThresholdOp {
  static constexpr bool needs_input = false, heavy = false;
  float epsilon;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x < epsilon ? T{} + epsilon : x;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y > epsilon ? T{} + 1 : T{};
  }
};

/// y = max(x, epsilon); a NaN stays a NaN (Mocha's ReLU with its epsilon).
struct Threshold {
  static constexpr std::string_view name = "threshold";
  float epsilon = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(is_finite(epsilon), "threshold: epsilon must be a finite number");
    return in;
  }
  constexpr ThresholdOp op(std::uint64_t) const { return {epsilon}; }
  bool operator==(Threshold const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Threshold, epsilon);
