// The layers Add, Subtract, Multiply and Divide: joins of two values, element by element.
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

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Add);
COLDPRESS_FIELDS(coldpress::Subtract);
COLDPRESS_FIELDS(coldpress::Multiply);
COLDPRESS_FIELDS(coldpress::Divide);
