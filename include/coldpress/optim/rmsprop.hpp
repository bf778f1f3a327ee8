// RMSprop: Tieleman and Hinton 2012 (lecture 6.5 of their course), as in PyTorch.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// s <- rho s + (1 - rho) g²;  w <- w - learning_rate g / (sqrt(s) + epsilon)
struct RMSprop {
  static constexpr std::string_view name = "rmsprop";
  static constexpr int states = 1;  // s
  static constexpr bool heavy = true;
  float learning_rate = 0.01f;
  float rho = 0.99f;
  float epsilon = 1e-8f;

  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    state[0] = Math<T>::fma(T{} + rho, state[0], gradient * gradient * (1 - rho));
    weight = Math<T>::fma(T{} - learning_rate, gradient / (Math<T>::sqrt(state[0]) + epsilon), weight);
  }
  bool operator==(RMSprop const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::RMSprop, learning_rate, rho, epsilon);
