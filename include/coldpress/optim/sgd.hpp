// Stochastic gradient descent with momentum, in Juice's order: scale the gradient, velocity, update.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// v <- learning_rate scale g + momentum v;  w <- w - v. `scale` is 1 / minibatch size, and the factor of clipping
/// where it applies.
struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr int states = 1;  // velocity, from 0
  float learning_rate = 0.01f;
  float momentum = 0;

  template <class T>
  __attribute__((always_inline)) void update(T& weight, T gradient, T (&state)[states], float scale) const {
    state[0] = Math<T>::fma(T{} + momentum, state[0], gradient * scale * learning_rate);
    weight = weight - state[0];
  }
  bool operator==(Sgd const&) const = default;
};

}  // namespace coldpress

BOOST_HANA_ADAPT_STRUCT(coldpress::Sgd, learning_rate, momentum);
