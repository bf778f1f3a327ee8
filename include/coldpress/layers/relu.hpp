// The layer ReLU: rectified linear units.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct ReLUOp {
  static constexpr bool needs_input = false, heavy = false;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x < T{} ? T{} : x;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y > T{} ? T{} + 1 : T{};
  }
};

/// y = max(x, 0); a NaN stays a NaN.
struct ReLU {
  static constexpr std::string_view name = "relu";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr ReLUOp op(std::uint64_t) const { return {}; }
  bool operator==(ReLU const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ReLU);
