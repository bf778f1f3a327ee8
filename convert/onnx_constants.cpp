// Broadcasts, permutes and combines tensors, with whole numbers that may be multiples of the number of samples.
#include "onnx_constants.hpp"

#include "weights.hpp"

#include <algorithm>

namespace coldpress::convert::onnx {
namespace {

[[noreturn]] void refuse_samples() {
  refuse("it computes with the number of samples, which is known only at run time");
}

/// Whole numbers wrap around, as ONNX's do.
Index wrapped(std::uint64_t value) { return static_cast<Index>(value); }
std::uint64_t bits(Index value) { return static_cast<std::uint64_t>(value); }

template <class T>
Index as(Index value) {
  return static_cast<Index>(static_cast<T>(value));
}

std::vector<Index> strides_of(std::vector<Index> const& shape) {
  std::vector<Index> strides(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) strides[a - 1] = strides[a] * shape[a];
  return strides;
}

/// The places of values that lie at these distances along the axes of a shape.
std::vector<std::size_t> places(std::vector<Index> const& shape, std::vector<Index> const& strides) {
  std::vector<std::size_t> all{0};
  for (std::size_t a = 0; a < shape.size(); ++a) {
    std::vector<std::size_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(shape[a]));
    for (std::size_t const start : all) {
      for (Index i = 0; i < shape[a]; ++i) next.push_back(start + static_cast<std::size_t>(i * strides[a]));
    }
    all = std::move(next);
  }
  return all;
}

}  // namespace

Int operator+(Int a, Int b) {
  if (a.samples != b.samples && a.factor != 0 && b.factor != 0) refuse_samples();
  return {wrapped(bits(a.factor) + bits(b.factor)), a.factor != 0 ? a.samples : b.samples};
}
Int operator-(Int a, Int b) { return a + Int{wrapped(-bits(b.factor)), b.samples}; }
Int operator*(Int a, Int b) {
  if (a.samples && b.samples) refuse_samples();
  return {wrapped(bits(a.factor) * bits(b.factor)), a.samples || b.samples};
}
Int operator/(Int a, Int b) {
  if (b.factor == 0) refuse("it divides by zero");
  if ((b.samples && !a.samples && a.factor != 0) || (a.samples && !b.samples && b.factor != -1 && a.factor % b.factor))
    refuse_samples();
  return {b.factor == -1 ? wrapped(-bits(a.factor)) : a.factor / b.factor, a.samples && !b.samples};
}

Int wrapped(Type type, Int value) {
  if (value.samples && (type == Type::uint8 || type == Type::int8 || type == Type::uint16 || type == Type::int16))
    refuse_samples();
  switch (type) {
    case Type::uint8:
      return {as<std::uint8_t>(value.factor)};
    case Type::int8:
      return {as<std::int8_t>(value.factor)};
    case Type::uint16:
      return {as<std::uint16_t>(value.factor)};
    case Type::int16:
      return {as<std::int16_t>(value.factor)};
    case Type::uint32:
      return {as<std::uint32_t>(value.factor), value.samples};
    case Type::int32:
      return {as<std::int32_t>(value.factor), value.samples};
    default:
      return value;  // 64 bits, and truth values
  }
}

Int integer_of(Type type, float value) {
  constexpr float most = 9.2e18f;
  return wrapped(type, {std::abs(value) < most ? static_cast<Index>(value) : 0});
}

Int integer_at(Tensor const& tensor, std::size_t i) {
  if (tensor.floating()) refuse("it computes a whole number of a float");
  return tensor.ints[i];
}
float float_at(Tensor const& tensor, std::size_t i) {
  if (tensor.floating()) return tensor.floats[i];
  if (tensor.ints[i].samples) refuse_samples();
  Index const value = tensor.ints[i].factor;
  return tensor.type == Type::uint64 ? static_cast<float>(bits(value)) : static_cast<float>(value);
}

Tensor tensor_for(Call const& call, Type type, std::vector<Index> shape) {
  auto const size = size_of(shape);
  if (!size) refuse("a constant would have the impossible shape " + persist::text(shape));
  call.network.check_constant(*size);
  Tensor tensor{.type = type, .shape = std::move(shape)};
  if (tensor.floating()) {
    tensor.floats.resize(static_cast<std::size_t>(*size));
  } else {
    tensor.ints.resize(static_cast<std::size_t>(*size));
  }
  return tensor;
}

Tensor shaped(Tensor tensor, std::vector<Index> shape) {
  tensor.shape = std::move(shape);
  if (tensor.samples_axis >= 0) refuse("it gives another shape to a constant that is repeated for each sample");
  return tensor;
}

std::vector<Index> repeated_shape(std::vector<Index> const& a, std::vector<Index> const& b) {
  std::vector<Index> shape = a.size() >= b.size() ? a : b;
  std::vector<Index> const& less = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < less.size(); ++i) {
    Index& extent = shape[shape.size() - less.size() + i];
    if (extent != less[i] && extent != 1 && less[i] != 1) refuse("the shapes of its constants cannot be joined");
    if (extent == 1) extent = less[i];
  }
  return shape;
}

std::vector<std::size_t> places_in(std::vector<Index> const& operand, std::vector<Index> const& result) {
  std::vector<Index> const own = strides_of(operand);
  std::vector<Index> strides(result.size(), 0);
  std::size_t const more = result.size() - operand.size();
  for (std::size_t a = 0; a < operand.size(); ++a) strides[more + a] = operand[a] == 1 ? 0 : own[a];
  return places(result, strides);
}

Tensor picked(Call const& call, Tensor const& from, std::vector<std::size_t> const& places, std::vector<Index> shape) {
  Tensor result = tensor_for(call, from.type, std::move(shape));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (from.floating()) {
      result.floats[i] = from.floats[places[i]];
    } else {
      result.ints[i] = from.ints[places[i]];
    }
  }
  result.origin = from.origin;
  return result;
}

Tensor transposed(Tensor const& from, std::vector<int> const& order) {
  std::vector<Index> const own = strides_of(from.shape);
  Tensor result{.type = from.type, .origin = from.origin};
  std::vector<Index> strides;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const a = static_cast<std::size_t>(order[i]);
    result.shape.push_back(from.shape[a]);
    strides.push_back(own[a]);
    if (order[i] == from.samples_axis) result.samples_axis = static_cast<int>(i);
  }
  for (std::size_t const place : places(result.shape, strides)) {
    if (from.floating()) {
      result.floats.push_back(from.floats[place]);
    } else {
      result.ints.push_back(from.ints[place]);
    }
  }
  return result;
}

}  // namespace coldpress::convert::onnx
