// The layer Clip: values held between two bounds, whose gradient passes at the bounds, too.
#pragma once

#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

struct ClipOp {
  static constexpr bool needs_input = true, heavy = false;  // y does not tell a value at a bound from one beyond it
  float min, max;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const raised = x < T{} + min ? T{} + min : x;
    return raised > T{} + max ? T{} + max : raised;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T, Position) const {
    T const below = x <= T{} + max ? T{} + 1 : T{};
    return x >= T{} + min ? below : T{};
  }
};

/// y = x from min to max, else the nearer of the two; a NaN stays a NaN (PyTorch's clamp, ONNX's Clip). Unlike that of
/// HardTanh, the gradient is 1 at the bounds. A bound that is left out is the largest number of its sign.
struct Clip {
  static constexpr std::string_view name = "clip";
  float min = -std::numeric_limits<float>::max(), max = std::numeric_limits<float>::max();

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(is_finite(min) && is_finite(max) && min <= max,
            "clip: min and max must be finite numbers, and min not the larger one");
    return in;
  }
  constexpr ClipOp op(std::uint64_t) const { return {min, max}; }
  bool operator==(Clip const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Clip, min, max);
