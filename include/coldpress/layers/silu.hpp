// The layer SiLU: sigmoid linear units.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct SiLUOp {
  static constexpr bool needs_input = true, heavy = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return gated(x, Math<T>::sigmoid(x));
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T y, Position) const {
    T const s = gate_of(x, y);
    return s + gated(x, s * (1 - s));
  }
};

/// y = x / (1 + e^-x), also known as Swish.
struct SiLU {
  static constexpr std::string_view name = "silu";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr SiLUOp op(std::uint64_t) const { return {}; }
  bool operator==(SiLU const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SiLU);
