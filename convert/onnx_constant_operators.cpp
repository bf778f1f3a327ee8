// Operators that are computed when a model is read, and those that change nothing in inference.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

void same(Call& call) { call.set(call.value(0)); }
Tensor fold_same(Call const& call) { return call.constant(0, "its input"); }

void dropout(Call& call) {
  if (call.used(1)) refuse("its mask is read, and there is none in inference");
  if (call.is_computed(2) || (call.is_constant(2) && call.integers_of(2, "training_mode") != std::vector<Index>{0}))
    refuse("training_mode is not false");
  same(call);
}

/// Whether values of a type are also those of another, as floats. Numbers of 32 and of 64 bits are taken for the same.
bool converts(Type from, Type to) {
  if (is_floating(to) || to == from) return true;
  if (is_floating(from) || to == Type::boolean) return false;
  auto const bits = [](Type type) {
    switch (type) {
      case Type::boolean:
        return 1;
      case Type::uint8:
      case Type::int8:
        return 8;
      case Type::uint16:
      case Type::int16:
        return 16;
      default:
        return 32;
    }
  };
  auto const has_sign = [](Type type) {
    return type == Type::int8 || type == Type::int16 || type == Type::int32 || type == Type::int64;
  };
  if (has_sign(from) == has_sign(to)) return bits(from) <= bits(to);
  return has_sign(to) && (bits(from) < bits(to) || bits(to) == 32);
}
void cast_to(Call& call, Type to) {
  Value x = call.value(0);
  if (!converts(x.type, to) && !call.only_selects)
    refuse(is_floating(x.type) || to == Type::boolean
               ? "values become whole numbers or truth values, which no layer does"
               : "whole numbers wrap around in a type that cannot hold them all, which no layer does");
  x.type = to;
  call.set(x);
}
void cast(Call& call) { cast_to(call, static_cast<Type>(call.integer("to", 1))); }

Tensor folded_cast(Call const& call, Type to) {
  Tensor const& from = call.constant(0, "its input");
  if (from.floating() && is_floating(to)) {
    Tensor same = from;
    same.type = to;
    return same;
  }
  Tensor result = tensor_for(call, to, from.shape);
  result.origin = from.origin;
  result.samples_axis = from.samples_axis;
  auto const count = static_cast<std::size_t>(from.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (is_floating(to)) {
      result.floats[i] = float_at(from, i);
    } else if (to == Type::boolean) {
      result.ints[i] = {from.floating() ? from.floats[i] != 0 : from.ints[i] != Int{}};
    } else if (from.floating()) {
      result.ints[i] = integer_of(to, from.floats[i]);
    } else {
      result.ints[i] = wrapped(to, from.ints[i]);
    }
  }
  return result;
}
Tensor fold_cast(Call const& call) { return folded_cast(call, static_cast<Type>(call.integer("to", 1))); }
Tensor fold_cast_like(Call const& call) { return folded_cast(call, call.constant(1, "the value of the type").type); }
/// Of the other value, only the type matters.
void cast_like(Call& call) {
  Type const to = call.is_constant(1) ? call.constant(1, "the value of the type").type : call.value(1).type;
  if (call.is_constant(0)) return call.set(folded_cast(call, to));
  cast_to(call, to);
}

template <class T>
Tensor list(std::vector<T> const& values, bool single) {
  Tensor tensor;
  if (!single) tensor.shape = {static_cast<Index>(values.size())};
  if constexpr (std::is_same_v<T, float>) {
    tensor.floats = values;
  } else {
    tensor.type = Type::int64;
    for (Index const value : values) tensor.ints.push_back({value});
  }
  return tensor;
}
Tensor constant(Call const& call) {
  for (auto const& [name, attribute] : call.node.attributes) {
    if (name == "value" && std::holds_alternative<Constant>(attribute)) {
      Tensor tensor = *std::get<Constant>(attribute);
      if (!call.node.outputs.empty()) tensor.origin = call.node.outputs[0];
      return tensor;
    }
    if (name == "value_int") return list(std::vector{call.integer(name, 0)}, true);
    if (name == "value_float") return list(std::vector{call.number(name, 0)}, true);
    if (name == "value_ints") return list(call.integers(name), false);
    if (name == "value_floats") return list(call.numbers(name), false);
  }
  refuse("its value is no tensor of numbers");
}

/// The shape that a list of whole numbers is, which may name the number of samples once.
std::vector<Index> shape_in(Tensor const& list, int& samples_axis) {
  std::vector<Index> shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(list.size()); ++i) {
    Int const extent = integer_at(list, i);
    if (extent.samples && (extent.factor != 1 || samples_axis >= 0))
      refuse("it makes a constant with several values for each sample");
    if (extent.samples) samples_axis = static_cast<int>(i);
    shape.push_back(extent.factor);
  }
  return shape;
}

Tensor constant_of_shape(Call const& call) {
  int samples_axis = -1;
  auto shape = shape_in(call.constant(0, "the shape"), samples_axis);
  if (shape.size() > Shape::max_rank) refuse("it makes a constant with more than 8 axes");
  Tensor value{.floats = {0}};
  if (auto const found = call.node.attributes.find("value");
      found != call.node.attributes.end() && std::holds_alternative<Constant>(found->second))
    value = *std::get<Constant>(found->second);
  if (value.size() != 1) refuse("its value is not one number");
  Tensor result = tensor_for(call, value.type, std::move(shape));
  if (value.floating()) std::ranges::fill(result.floats, value.floats[0]);
  if (!value.floating()) std::ranges::fill(result.ints, value.ints[0]);
  result.samples_axis = samples_axis;
  return result;
}

Tensor range(Call const& call) {
  Tensor const &start = call.constant(0, "start"), &limit = call.constant(1, "limit"),
               &step = call.constant(2, "delta");
  if (start.size() != 1 || limit.size() != 1 || step.size() != 1) refuse("its bounds are not single numbers");
  if (start.floating()) {
    double const first = start.floats[0], by = float_at(step, 0);
    double const count = by == 0 ? -1 : std::ceil((static_cast<double>(float_at(limit, 0)) - first) / by);
    if (!(count >= 0 && count <= 1e8)) refuse("it has an impossible number of values");
    Tensor result = tensor_for(call, start.type, {static_cast<Index>(count)});
    for (std::size_t i = 0; i < result.floats.size(); ++i)
      result.floats[i] = static_cast<float>(first + static_cast<double>(i) * by);
    return result;
  }
  Int const first = integer_at(start, 0), last = integer_at(limit, 0), by = integer_at(step, 0);
  if (first.samples || last.samples || by.samples) refuse("it counts samples, whose number is known only at run time");
  double const count = by.factor == 0
                           ? -1
                           : std::ceil((static_cast<double>(last.factor) - static_cast<double>(first.factor)) /
                                       static_cast<double>(by.factor));
  if (!(count <= 1e8) || by.factor == 0) refuse("it has an impossible number of values");
  Tensor result = tensor_for(call, start.type, {static_cast<Index>(std::max(0.0, count))});
  for (std::size_t i = 0; i < result.ints.size(); ++i) result.ints[i] = first + Int{static_cast<Index>(i)} * by;
  return result;
}

Tensor triangle(Call const& call) {
  Tensor result = call.constant(0, "its input");
  if (result.rank() < 2) refuse("its input is no matrix");
  auto const given = call.has(1) ? call.integers_of(1, "k") : std::vector<Index>{0};
  Index const k = given.empty() ? 0 : given[0];
  Index const columns = result.shape.back(), rows = result.shape[result.shape.size() - 2];
  bool const upper = call.integer("upper", 1) != 0;
  if (std::abs(static_cast<double>(k)) > 1e12) refuse("its diagonal is far outside");
  for (Index i = 0; i < result.size(); ++i) {
    Index const row = i / columns % rows, column = i % columns;
    if (upper ? column - row >= k : column - row <= k) continue;
    if (result.floating()) {
      result.floats[static_cast<std::size_t>(i)] = 0;
    } else {
      result.ints[static_cast<std::size_t>(i)] = {};
    }
  }
  return result;
}

}  // namespace

std::span<Operator const> constant_operators() {
  static constexpr std::array rows{
      Operator{"Constant", nullptr, constant, "a constant"},
      Operator{"ConstantOfShape", nullptr, constant_of_shape, "constants only"},
      Operator{"Range", nullptr, range, "constants only"},
      Operator{"Trilu", nullptr, triangle, "constants only"},
      Operator{"Floor", nullptr, fold_each<[](float x) { return std::floor(x); }>, "constants only"},
      Operator{"Ceil", nullptr, fold_each<[](float x) { return std::ceil(x); }>, "constants only"},
      Operator{"Log", nullptr, fold_each<[](float x) { return std::log(x); }>, "constants only"},
      Operator{"Sin", nullptr, fold_each<[](float x) { return std::sin(x); }>, "constants only"},
      Operator{"Cos", nullptr, fold_each<[](float x) { return std::cos(x); }>, "constants only"},
      Operator{"Identity", same, fold_same, "nothing"},
      Operator{"Dropout", dropout, fold_same, "nothing"},
      Operator{"Cast", cast, fold_cast, "nothing; from floats to whole numbers only where these select"},
      Operator{"CastLike", cast_like, fold_cast_like, "nothing; from floats to whole numbers only where these select"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
