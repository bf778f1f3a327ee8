// The layer Softsign: a sigmoid of quotients, without exponentials.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct SoftsignOp {
  static constexpr bool needs_input = false, heavy = false;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x / (size(x) + 1);
  }
  /// 1 / (1 + |x|)², computed from the output: 1 - |y| is 1 / (1 + |x|).
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T y, Position) const {
    T const rest = T{} + 1 - size(y);
    return rest * rest;
  }

 private:
  template <class T>
  __attribute__((always_inline)) static constexpr T size(T x) {
    return x < T{} ? T{} - x : x;
  }
};

/// y = x / (1 + |x|)
struct Softsign {
  static constexpr std::string_view name = "softsign";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr SoftsignOp op(std::uint64_t) const { return {}; }
  bool operator==(Softsign const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Softsign);
