// The ranges of optimizers' numbers.
#pragma once

#include <string_view>
#include <type_traits>

namespace coldpress {

/// The range of a number of an optimizer, or of a config of a solver. The name of its field says which: it means the
/// same everywhere.
enum class NumberRange { at_least_0, at_least_0_below_1, above_0 };

constexpr NumberRange range_of_number(std::string_view field) {
  if (field == "momentum" || field == "beta1" || field == "beta2" || field == "rho")
    return NumberRange::at_least_0_below_1;
  bool const above = field == "epsilon" || field == "clip_gradients" || field == "clip_values";
  return above ? NumberRange::above_0 : NumberRange::at_least_0;
}
constexpr bool is_in(NumberRange range, float number) {
  if (!(number - number == 0)) return false;  // infinity, NaN
  return range == NumberRange::above_0 ? number > 0 : number >= 0 && (range == NumberRange::at_least_0 || number < 1);
}

/// Whether all numbers of an optimizer, which are its fields of the type float, are in their ranges. The fields are
/// named here because loops over fields need headers of Boost.Hana, which programs with network types do not include.
template <class Optimizer>
constexpr bool numbers_in_range(Optimizer const& optimizer) {
  bool right = true;
  auto const look_at = [&](std::string_view field, auto number) {
    if constexpr (std::is_same_v<decltype(number), float>) right = right && is_in(range_of_number(field), number);
  };
  if constexpr (requires { optimizer.learning_rate; }) look_at("learning_rate", optimizer.learning_rate);
  if constexpr (requires { optimizer.momentum; }) look_at("momentum", optimizer.momentum);
  if constexpr (requires { optimizer.beta1; }) look_at("beta1", optimizer.beta1);
  if constexpr (requires { optimizer.beta2; }) look_at("beta2", optimizer.beta2);
  if constexpr (requires { optimizer.rho; }) look_at("rho", optimizer.rho);
  if constexpr (requires { optimizer.epsilon; }) look_at("epsilon", optimizer.epsilon);
  if constexpr (requires { optimizer.weight_decay; }) look_at("weight_decay", optimizer.weight_decay);
  return right;
}

}  // namespace coldpress
