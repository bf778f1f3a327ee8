// Layers of which no field has its default, made by going through their fields.
#pragma once

#include <coldpress/layers.hpp>

#include <limits>

namespace coldpress::test {

/// Two values for each field, neither of which is its default: ordinary ones, and those at the ends of their ranges.
enum class Change { ordinary, extreme };

template <class Value>
void change(Value& value, Change how) {
  bool const extreme = how == Change::extreme;
  if constexpr (std::is_same_v<Value, bool>) {
    value = !value;
  } else if constexpr (std::is_floating_point_v<Value>) {
    value = extreme ? std::numeric_limits<Value>::denorm_min()
            : value < std::numeric_limits<Value>::max() / 2 && value > std::numeric_limits<Value>::lowest() / 2
                ? value + 0.1f
                : Value{-0.3f};
  } else if constexpr (std::is_integral_v<Value>) {
    value = !extreme                  ? value + 3
            : std::is_signed_v<Value> ? std::numeric_limits<Value>::min()
                                      : std::numeric_limits<Value>::max();
  } else if constexpr (Spelled<Value>) {
    std::size_t const count = spellings(value).size();
    value = static_cast<Value>((static_cast<std::size_t>(value) + (extreme ? count - 1 : 1)) % count);
  } else if constexpr (std::is_same_v<Value, Shape>) {
    value = extreme ? Shape{1, 2, 3, 4, 5, 6, 7, 8} : Shape{3, 4};
  } else if constexpr (NumberList<Value>) {
    using Number = std::remove_cvref_t<decltype(*value.data())>;
    if constexpr (std::is_floating_point_v<Number>) {
      Number const numbers[] = {Number{0.1f}, std::numeric_limits<Number>::infinity()};
      value = Value::of(numbers, 2);
    } else {
      Number const numbers[] = {1, 0};
      value = Value::of(numbers, extreme ? 1 : 2);
    }
  } else if constexpr (std::is_same_v<Value, Weight>) {
    value = extreme ? Weight{Orthogonal{.gain = 0.7f}}
                    : Weight{.filler = Gaussian{.mean = 1e-45f, .deviation = 0.1f},
                             .lr_mult = 0.3f,
                             .decay_mult = 0,
                             .regularizer = Regularizer::l1,
                             .max_norm = {.norm = 2.5f, .every = 7}};
  } else {
    for_each_field(value, [&](std::string_view, auto& field) { change(field, how); });
  }
}

template <class L>
L changed(Change how) {
  L layer{};
  for_each_field(layer, [&](std::string_view, auto& field) { change(field, how); });
  return layer;
}

}  // namespace coldpress::test
