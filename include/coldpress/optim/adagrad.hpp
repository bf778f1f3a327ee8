// Adagrad: Duchi, Hazan and Singer 2011, with one rate per element.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// s <- s + g²;  w <- w - learning_rate g / (sqrt(s) + epsilon)
struct Adagrad {
  static constexpr std::string_view name = "adagrad";
  static constexpr int states = 1;  // s
  static constexpr bool heavy = true;
  float learning_rate = 0.01f;
  float epsilon = 1e-8f;

  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    state[0] = Math<T>::fma(gradient, gradient, state[0]);
    weight = Math<T>::fma(T{} - learning_rate, gradient / (Math<T>::sqrt(state[0]) + epsilon), weight);
  }
  bool operator==(Adagrad const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Adagrad, learning_rate, epsilon);
