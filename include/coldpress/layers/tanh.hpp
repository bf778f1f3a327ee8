// The layer TanH.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct TanHOp {
  static constexpr bool needs_input = false, heavy = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return Math<T>::tanh(x);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    return 1 - y * y;
  }
};

/// y = tanh(x).
struct TanH {
  static constexpr std::string_view name = "tanh";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr TanHOp op(std::uint64_t) const { return {}; }
  bool operator==(TanH const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::TanH);
