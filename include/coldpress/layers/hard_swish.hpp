// The layer HardSwish: SiLU with straight pieces for its sigmoid.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct HardSwishOp {
  static constexpr bool needs_input = true, heavy = false;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    T const between = x > T{} + 3 ? x : x * (x + 3) * (T{} + 1.0f / 6);
    return x < T{} - 3 ? T{} : between;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T, Position) const {
    T const between = x > T{} + 3 ? T{} + 1 : (x + x + 3) * (T{} + 1.0f / 6);
    return x < T{} - 3 ? T{} : between;
  }
};

/// y = x (x + 3) / 6 between -3 and 3, 0 below and x above (Howard et al. 2019).
struct HardSwish {
  static constexpr std::string_view name = "hard_swish";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr HardSwishOp op(std::uint64_t) const { return {}; }
  bool operator==(HardSwish const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::HardSwish);
