// The layer Mish: x tanh(softplus(x)).
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct MishOp {
  static constexpr bool needs_input = true, heavy = true;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return gated(x, Gate<T>{x}.value());
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T, Position) const {
    Gate<T> const gate{x};
    return gate.value() + gated(x, gate.slope());
  }

 private:
  /// tanh(log(1 + e^x)) = up (1 + down) / (1 + down²), with up = sigmoid(x) and down = 1 - up, of which the smaller one
  /// is computed: no digits cancel, and nothing overflows.
  template <class T>
  struct Gate {
    T up, down;

    __attribute__((always_inline)) constexpr explicit Gate(T x) {
      T const small = Math<T>::sigmoid(x < T{} ? x : -x), large = 1 - small;
      up = x < T{} ? small : large, down = x < T{} ? large : small;
    }
    __attribute__((always_inline)) constexpr T value() const { return up * (1 + down) / mass(); }
    /// up (2 down / (1 + down²))²
    __attribute__((always_inline)) constexpr T slope() const {
      T const root = 2 * down / mass();
      return Math<T>::multiply(Math<T>::multiply(root, root), up);
    }
    __attribute__((always_inline)) constexpr T mass() const { return Math<T>::fma(down, down, T{} + 1); }
  };
};

/// y = x tanh(log(1 + e^x)) (Misra 2019).
struct Mish {
  static constexpr std::string_view name = "mish";

  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr MishOp op(std::uint64_t) const { return {}; }
  bool operator==(Mish const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Mish);
