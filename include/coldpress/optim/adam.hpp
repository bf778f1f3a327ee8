// Adam: Kingma and Ba 2015, algorithm 1, in the order of computation that the end of their section 2 proposes.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {
namespace detail {

/// m <- beta1 m + (1 - beta1) g;  v <- beta2 v + (1 - beta2) g²;  returns m / (sqrt(v) + epsilon).
template <class Adam, class T>
__attribute__((always_inline)) constexpr T adam_direction(Adam const& adam, T gradient, T (&state)[2]) {
  state[0] = Math<T>::fma(T{} + adam.beta1, state[0], gradient * (1 - adam.beta1));
  state[1] = Math<T>::fma(T{} + adam.beta2, state[1], gradient * gradient * (1 - adam.beta2));
  return state[0] / (Math<T>::sqrt(state[1]) + adam.epsilon);
}

/// Applies the bias corrections of step t, counted from 1. With c1 = 1 - beta1^t and c2 = sqrt(1 - beta2^t), the step
/// learning_rate (m / c1) / (sqrt(v) / c2 + epsilon) equals (learning_rate c2 / c1) m / (sqrt(v) + epsilon c2). Returns
/// c2 / c1.
template <class Adam>
constexpr double correct_bias(Adam& adam, std::uint64_t t) {
  auto const left = [t](float beta) {
    return 1 - freestanding::pow(static_cast<double>(beta), static_cast<double>(t));
  };
  double const c2 = freestanding::sqrt(left(adam.beta2)), factor = c2 / left(adam.beta1);
  adam.learning_rate = static_cast<float>(static_cast<double>(adam.learning_rate) * factor);
  adam.epsilon = static_cast<float>(static_cast<double>(adam.epsilon) * c2);
  return factor;
}

}  // namespace detail

/// w <- w - learning_rate m' / (sqrt(v') + epsilon), where m' and v' are the means of g and g², corrected for starting
/// at 0.
struct Adam {
  static constexpr std::string_view name = "adam";
  static constexpr int states = 2;  // m, v
  static constexpr bool heavy = true;
  float learning_rate = 0.001f;
  float beta1 = 0.9f, beta2 = 0.999f;
  float epsilon = 1e-8f;

  constexpr Adam at(std::uint64_t t) const {
    Adam adam = *this;
    detail::correct_bias(adam, t);
    return adam;
  }
  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    weight = Math<T>::fma(T{} - learning_rate, detail::adam_direction(*this, gradient, state), weight);
  }
  bool operator==(Adam const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Adam, learning_rate, beta1, beta2, epsilon);
