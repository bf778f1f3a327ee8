// Arithmetic of constants, which is done when a model is read.
#pragma once

#include "onnx_operators.hpp"

namespace coldpress::convert::onnx {

Int operator+(Int a, Int b);  // these throw Refusal where the result depends on the number of samples in another way
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator/(Int a, Int b);

/// A whole number as one of a type, around whose ends it wraps. Throws Refusal for a number of samples if the type may
/// be too narrow for it.
Int wrapped(Type type, Int value);

/// What a float is as a whole number of a type: without its fraction; 0 if there is no such number.
Int integer_of(Type type, float value);

/// A number of a constant.
Int integer_at(Tensor const& tensor, std::size_t i);
float float_at(Tensor const& tensor, std::size_t i);

/// A tensor for values of that type and shape. Throws Refusal if a model's constants become too large.
Tensor tensor_for(Call const& call, Type type, std::vector<Index> shape);
/// The tensor with its values in another shape.
Tensor shaped(Tensor tensor, std::vector<Index> shape);

/// Where the value of an operand is for each value of a result into whose shape it is repeated.
std::vector<std::size_t> places_in(std::vector<Index> const& operand, std::vector<Index> const& result);
std::vector<Index> repeated_shape(std::vector<Index> const& a, std::vector<Index> const& b);

/// The tensor with the values at these places.
Tensor picked(Call const& call, Tensor const& from, std::vector<std::size_t> const& places, std::vector<Index> shape);
/// The same axes in another order.
Tensor transposed(Tensor const& from, std::vector<int> const& order);

/// A function of each value, for floats.
template <auto f>
Tensor fold_each(Call const& call) {
  Tensor result = call.constant(0, "its input");
  if (!result.floating()) refuse("it is applied to whole numbers");
  for (float& value : result.floats) value = f(value);
  return result;
}

/// A function of two values, for floats and for whole numbers.
template <auto of_floats, auto of_ints, bool truth = false>
Tensor combined(Call const& call, Tensor const& a, Tensor const& b) {
  std::vector<Index> const shape = repeated_shape(a.shape, b.shape);
  bool const floats = a.floating() || b.floating();
  Tensor result = tensor_for(call, truth ? Type::boolean : a.type, shape);
  auto const from_a = places_in(a.shape, shape), from_b = places_in(b.shape, shape);
  for (std::size_t i = 0; i < from_a.size(); ++i) {
    if (truth) {
      result.ints[i] = {floats ? of_floats(float_at(a, from_a[i]), float_at(b, from_b[i])) != 0
                               : of_ints(integer_at(a, from_a[i]), integer_at(b, from_b[i])) != Int{}};
    } else if (floats) {
      auto const value = static_cast<float>(of_floats(float_at(a, from_a[i]), float_at(b, from_b[i])));
      if (a.floating()) {
        result.floats[i] = value;
      } else {  // only Pow has inputs of two types, and the result that of the first
        result.ints[i] = integer_of(a.type, value);
      }
    } else {
      result.ints[i] = wrapped(a.type, of_ints(integer_at(a, from_a[i]), integer_at(b, from_b[i])));
    }
  }
  result.origin = a.origin.empty() ? b.origin : a.origin;
  int const more_a = result.rank() - a.rank(), more_b = result.rank() - b.rank();
  if (a.samples_axis >= 0) result.samples_axis = a.samples_axis + more_a;
  if (b.samples_axis >= 0) result.samples_axis = b.samples_axis + more_b;
  return result;
}
template <auto of_floats, auto of_ints, bool truth = false>
Tensor fold_two(Call const& call) {
  return combined<of_floats, of_ints, truth>(call, call.constant(0, "its first input"),
                                             call.constant(1, "its second input"));
}
/// A function of two values, of all inputs one after another.
template <auto of_two>
Tensor fold_all(Call const& call) {
  Tensor result = call.constant(0, "its input");
  for (std::size_t i = 1; i < call.size(); ++i)
    result = combined<of_two, of_two>(call, result, call.constant(i, "its input"));
  return result;
}

}  // namespace coldpress::convert::onnx
