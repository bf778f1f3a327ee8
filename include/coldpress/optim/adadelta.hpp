// Adadelta: Zeiler 2012, algorithm 1, with steps scaled by a learning rate (1 there).
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// s <- rho s + (1 - rho) g²;  d = g sqrt(u + epsilon) / sqrt(s + epsilon);  u <- rho u + (1 - rho) d²;
/// w <- w - learning_rate d
struct Adadelta {
  static constexpr std::string_view name = "adadelta";
  static constexpr int states = 2;  // s, u
  static constexpr bool heavy = true;
  float learning_rate = 1;
  float rho = 0.95f;
  float epsilon = 1e-6f;

  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    T const keep = T{} + rho;
    state[0] = Math<T>::fma(keep, state[0], gradient * gradient * (1 - rho));
    T const step = gradient * (Math<T>::sqrt(state[1] + epsilon) / Math<T>::sqrt(state[0] + epsilon));
    state[1] = Math<T>::fma(keep, state[1], step * step * (1 - rho));
    weight = Math<T>::fma(T{} - learning_rate, step, weight);
  }
  bool operator==(Adadelta const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Adadelta, learning_rate, rho, epsilon);
