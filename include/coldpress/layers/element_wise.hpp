// The layers Add, Subtract, Multiply, Divide, Max and Min: joins of two values, element by element.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

struct AddOp {
  static constexpr bool needs_inputs = false, commutes = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    return a + b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T, T) const {
    return T{} + 1;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T, T) const {
    return T{} + 1;
  }
};
struct SubtractOp {
  static constexpr bool needs_inputs = false, commutes = false;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    return a - b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T, T) const {
    return T{} + 1;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T, T) const {
    return T{} - 1;
  }
};
struct MultiplyOp {
  static constexpr bool needs_inputs = true, commutes = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    return a * b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T, T b) const {
    return b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T a, T) const {
    return a;
  }
};
struct DivideOp {
  static constexpr bool needs_inputs = true, commutes = false;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    return a / b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T, T b) const {
    return 1 / b;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T a, T b) const {
    return -a / (b * b);
  }
};
/// The larger value, or the smaller one; if one is NaN, NaN.
template <bool largest>
struct ExtremeOp {
  static constexpr bool needs_inputs = true, commutes = true;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    T const other = a == a ? b : a;
    return (largest ? a > b : a < b) ? a : other;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T a, T b) const {
    T const all = (largest ? a < b : a > b) ? T{} : T{} + 1;
    return a == b ? T{} + 0.5f : all;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T a, T b) const {
    return first(b, a);
  }
};

namespace detail {
template <class Needs>
constexpr Shape joined_shape(Shapes in, Needs require) {
  require(in.size() == 2, "an element-wise operation takes two inputs");
  require(in[0] == in[1], "an element-wise operation: its two inputs have different shapes");
  return in[0];
}
}  // namespace detail

/// y = a + b, element by element (Mocha's ElementWise). In an expression, write a + b.
struct Add {
  static constexpr std::string_view name = "add";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr AddOp join() const { return {}; }
  bool operator==(Add const&) const = default;
};
/// y = a - b, element by element.
struct Subtract {
  static constexpr std::string_view name = "subtract";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr SubtractOp join() const { return {}; }
  bool operator==(Subtract const&) const = default;
};
/// y = a b, element by element.
struct Multiply {
  static constexpr std::string_view name = "multiply";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr MultiplyOp join() const { return {}; }
  bool operator==(Multiply const&) const = default;
};
/// y = a / b, element by element.
struct Divide {
  static constexpr std::string_view name = "divide";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr DivideOp join() const { return {}; }
  bool operator==(Divide const&) const = default;
};
/// The larger of a and b, element by element (PyTorch's maximum). Where they are equal, each gets half of the gradient.
/// If one of them is NaN, y is NaN.
struct Max {
  static constexpr std::string_view name = "max";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr ExtremeOp<true> join() const { return {}; }
  bool operator==(Max const&) const = default;
};
/// The smaller of a and b, element by element (PyTorch's minimum), with the gradient of Max.
struct Min {
  static constexpr std::string_view name = "min";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    return detail::joined_shape(in, require);
  }
  constexpr ExtremeOp<false> join() const { return {}; }
  bool operator==(Min const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Add);
COLDPRESS_FIELDS(coldpress::Subtract);
COLDPRESS_FIELDS(coldpress::Multiply);
COLDPRESS_FIELDS(coldpress::Divide);
COLDPRESS_FIELDS(coldpress::Max);
COLDPRESS_FIELDS(coldpress::Min);
