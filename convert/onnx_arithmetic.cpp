// Arithmetic of two values: joins, or a layer of one value where the other is a constant.
#include "onnx_affine.hpp"
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

/// The single number that a constant is, if it is one.
std::optional<float> number_of(Call const& call, std::size_t i) {
  if (!call.is_constant(i)) return {};
  Tensor const& tensor = call.constant(i, "a number");
  if (tensor.size() == 0) return {};
  auto const same = [&](auto const& values) {
    return std::ranges::all_of(values, [&](auto v) { return v == values[0]; });
  };
  if (!(tensor.floating() ? same(tensor.floats) : same(tensor.ints))) return {};
  float const value = float_at(tensor, 0);
  return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

/// Whether joining with the constant leaves the axes of the value as they are.
bool keeps_shape(Call const& call, std::size_t value, std::size_t constant) {
  auto const axes = call.value(value).axes;
  return broadcast(axes, axes_of(call.constant(constant, "a constant"))) == axes;
}

template <class L>
void join(Call& call, L const& layer) {
  call.set(joined(call.network, "", layer, call.value(0), call.value(1)));
}

void map_power(Call& call, std::size_t i, Power const& layer) {
  Value const x = call.value(i);
  bool const nothing = layer == Power{};
  call.set(nothing ? x : with(x, call.network.add("", layer, {x.sample})));
}

/// The constant operand, and the other one; nothing if both are computed or the constant makes the value larger.
std::optional<std::pair<std::size_t, std::size_t>> constant_and_value(Call const& call) {
  std::size_t const constant = call.is_constant(0) ? 0 : 1;
  if (!call.is_constant(constant) || !keeps_shape(call, 1 - constant, constant)) return {};
  return std::pair{constant, 1 - constant};
}

void add(Call& call) {
  auto const found = constant_and_value(call);
  if (!found) return join(call, Add{});
  auto const [constant, value] = *found;
  if (auto const number = number_of(call, constant)) return map_power(call, value, {.shift = *number});
  call.set(affine(call.network, call.value(value), nullptr, &call.constant(constant, "a sum")));
}

void subtract(Call& call) {
  auto const found = constant_and_value(call);
  if (!found) return join(call, Subtract{});
  auto const [constant, value] = *found;
  auto const number = number_of(call, constant);
  if (number && constant == 0) return map_power(call, value, {.scale = -1, .shift = *number});
  if (number) return map_power(call, value, {.shift = -*number});
  if (constant == 0) return join(call, Subtract{});
  Tensor minus = call.constant(constant, "a difference");
  for (float& each : minus.floats) each = -each;
  for (Int& each : minus.ints) each = Int{} - each;
  call.set(affine(call.network, call.value(value), nullptr, &minus));
}

void multiply(Call& call) {
  auto const found = constant_and_value(call);
  if (!found) return join(call, Multiply{});
  auto const [constant, value] = *found;
  if (auto const number = number_of(call, constant)) return map_power(call, value, {.scale = *number});
  call.set(affine(call.network, call.value(value), &call.constant(constant, "a product"), nullptr));
}

void divide(Call& call) {
  if (!is_floating(call.value(call.is_constant(0) ? 1 : 0).type)) refuse("it divides whole numbers");
  auto const found = constant_and_value(call);
  if (!found) return join(call, Divide{});
  auto const [constant, value] = *found;
  auto const number = number_of(call, constant);
  if (number && constant == 0 && *number == 1) return map_power(call, value, {.power = -1});
  if (number && constant == 1 && *number != 0) return map_power(call, value, {.scale = 1 / *number});
  join(call, Divide{});
}

void raise(Call& call) {
  if (call.is_constant(1) && keeps_shape(call, 0, 1)) {
    if (auto const number = number_of(call, 1)) return map_power(call, 0, {.power = *number});
  }
  refuse("its exponent is not one constant number");
}

/// Joins all inputs, one after another.
template <class L>
Value join_all(Call& call) {
  Value sum = call.value(0);
  for (std::size_t i = 1; i < call.size(); ++i)
    sum = joined(call.network, i + 1 == call.size() ? "" : "part", L{}, sum, call.value(i));
  return sum;
}
void sum(Call& call) { call.set(join_all<Add>(call)); }
void mean(Call& call) {
  Value const all = join_all<Add>(call);
  call.set(with(all, call.network.add("mean", Power{.scale = 1 / static_cast<float>(call.size())}, {all.sample})));
}
template <class L>
void extreme(Call& call) {
  auto const found = call.size() == 2 ? constant_and_value(call) : std::nullopt;
  if (auto const number = found ? number_of(call, found->first) : std::nullopt) {
    Value const x = call.value(found->second);
    Clip layer;
    (std::is_same_v<L, Max> ? layer.min : layer.max) = *number;
    return call.set(with(x, call.network.add("", layer, {x.sample})));
  }
  call.set(join_all<L>(call));
}

template <int doubled_power, int scale>
void power(Call& call) {
  map_power(call, 0, {.power = doubled_power / 2.0f, .scale = scale});
}
void both(Call& call) { join(call, Multiply{}); }
void either(Call& call) { join(call, Max{}); }

void where(Call& call) {
  std::vector<Axis> const axes = broadcast(broadcast(call.value(0).axes, call.value(1).axes), call.value(2).axes);
  std::vector<int> const order = natural(axes);
  std::vector<Sample> inputs;
  for (std::size_t i = 0; i < 3; ++i) inputs.push_back(expanded(call.network, call.value(i), axes, order));
  call.set({call.network.add("", Where{}, inputs), axes, order, call.value(1).type});
}

Tensor fold_where(Call const& call) {
  Tensor const &condition = call.constant(0, "its condition"), &a = call.constant(1, "a"), &b = call.constant(2, "b");
  auto const shape = repeated_shape(repeated_shape(condition.shape, a.shape), b.shape);
  Tensor result = tensor_for(call, a.type, shape);
  auto const of = places_in(condition.shape, shape), of_a = places_in(a.shape, shape), of_b = places_in(b.shape, shape);
  for (std::size_t i = 0; i < of.size(); ++i) {
    bool const first = integer_at(condition, of[i]) != Int{};
    if (a.floating()) {
      result.floats[i] = first ? float_at(a, of_a[i]) : float_at(b, of_b[i]);
    } else {
      result.ints[i] = first ? integer_at(a, of_a[i]) : integer_at(b, of_b[i]);
    }
  }
  return result;
}

/// Whole numbers that depend on the number of samples are equal to no others, and cannot be compared.
constexpr auto less = [](auto a, auto b) -> decltype(a) {
  if constexpr (std::is_same_v<decltype(a), Int>) {
    return {static_cast<Index>((a - b).factor < 0)};
  } else {
    return a < b;
  }
};
constexpr auto truth = [](auto x) {
  if constexpr (std::is_same_v<decltype(x), Int>) {
    return x != Int{};
  } else {
    return x != 0;
  }
};
template <class T>
T as(bool holds) {
  if constexpr (std::is_same_v<T, Int>) {
    return {static_cast<Index>(holds)};
  } else {
    return holds;
  }
}
constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](auto a, auto b) { return a - b; };
constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto over = [](auto a, auto b) { return a / b; };
constexpr auto equal = [](auto a, auto b) { return as<decltype(a)>(a == b); };
constexpr auto greater = [](auto a, auto b) { return less(b, a); };
constexpr auto at_most = [](auto a, auto b) { return as<decltype(a)>(!truth(less(b, a))); };
constexpr auto at_least = [](auto a, auto b) { return as<decltype(a)>(!truth(less(a, b))); };
constexpr auto and_ = [](auto a, auto b) { return as<decltype(a)>(truth(a) && truth(b)); };
constexpr auto or_ = [](auto a, auto b) { return as<decltype(a)>(truth(a) || truth(b)); };
constexpr auto largest = [](auto a, auto b) { return truth(less(a, b)) ? b : a; };
constexpr auto smallest = [](auto a, auto b) { return truth(less(b, a)) ? b : a; };
constexpr auto raised = [](float a, float b) { return std::pow(a, b); };
constexpr auto raised_ints = [](Int a, Int b) {
  Int power{1};
  if (b.factor < 0) return a == power ? a : power / (a * a);  // 1 or -1 squared, and 0 of larger numbers
  for (auto rest = static_cast<std::uint64_t>(b.factor); rest > 0; rest /= 2) {
    if (rest % 2 == 1) power = power * a;
    if (rest > 1) a = a * a;
  }
  return power;
};
constexpr auto remainder_of = [](auto a, auto b) {
  if constexpr (std::is_same_v<decltype(a), Int>) {
    Int const rest = a - b * (a / b);
    return rest.factor != 0 && (rest.factor < 0) != (b.factor < 0) ? rest + b : rest;
  } else {
    return std::fmod(a, b);
  }
};
constexpr auto truncated_remainder_of = [](auto a, auto b) {
  if constexpr (std::is_same_v<decltype(a), Int>) {
    return a - b * (a / b);
  } else {
    return std::fmod(a, b);
  }
};
template <auto f, bool truth_value = false>
constexpr auto two = fold_two<f, f, truth_value>;

Tensor fold_mod(Call const& call) {
  return call.integer("fmod", 0) != 0 ? two<truncated_remainder_of>(call) : two<remainder_of>(call);
}
Tensor fold_minus(Call const& call) {
  Tensor result = call.constant(0, "its input");
  for (float& value : result.floats) value = -value;
  for (Int& value : result.ints) value = wrapped(result.type, Int{} - value);
  return result;
}
Tensor fold_not(Call const& call) {
  Tensor result = call.constant(0, "its input");
  for (Int& value : result.ints) value = {value == Int{}};
  return result;
}

}  // namespace

std::span<Operator const> arithmetic_operators() {
  static constexpr std::array rows{
      Operator{"Add", add, two<plus>, "`add`; with a constant `power`, `convolution` or `learnedPositions`"},
      Operator{"Sub", subtract, two<minus>, "`subtract`; with a constant as Add"},
      Operator{"Mul", multiply, two<times>, "`multiply`; with a constant `power` or `convolution`"},
      Operator{"Div", divide, two<over>, "`divide`; with a constant `power`"},
      Operator{"Pow", raise, fold_two<raised, raised_ints>, "`power`; the exponent is one number"},
      Operator{"Sum", sum, nullptr, "`add`"},
      Operator{"Mean", mean, nullptr, "`add`, `power`"},
      Operator{"Max", extreme<Max>, fold_all<largest>, "`max`; with a constant `clip`"},
      Operator{"Min", extreme<Min>, fold_all<smallest>, "`min`; with a constant `clip`"},
      Operator{"Mod", nullptr, fold_mod, "constants only"},
      Operator{"Neg", power<2, -1>, fold_minus, "`power`"},
      Operator{"Sqrt", power<1, 1>, fold_each<[](float x) { return std::sqrt(x); }>, "`power`"},
      Operator{"Reciprocal", power<-2, 1>, fold_each<[](float x) { return 1 / x; }>, "`power`"},
      Operator{"Where", where, fold_where, "`where`"},
      Operator{"And", both, two<and_, true>, "`multiply`"},
      Operator{"Or", either, two<or_, true>, "`max`"},
      Operator{"Not", [](Call& call) { map_power(call, 0, {.scale = -1, .shift = 1}); }, fold_not, "`power`"},
      Operator{"Equal", nullptr, two<equal, true>, "constants only"},
      Operator{"Less", nullptr, two<less, true>, "constants only"},
      Operator{"Greater", nullptr, two<greater, true>, "constants only"},
      Operator{"LessOrEqual", nullptr, two<at_most, true>, "constants only"},
      Operator{"GreaterOrEqual", nullptr, two<at_least, true>, "constants only"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
