// The layer Exponential.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct ExponentialOp {
  static constexpr bool needs_input = false, heavy = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return Math<T>::exp(x);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return y;
  }
};

/// y = e^x.
struct Exponential {
  static constexpr std::string_view name = "exponential";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr ExponentialOp op(std::uint64_t) const { return {}; }
  bool operator==(Exponential const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Exponential);
