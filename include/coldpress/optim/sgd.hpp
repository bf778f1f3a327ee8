// Stochastic gradient descent with momentum as in Juice and Caffe: the velocity contains the learning rate.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// v <- learning_rate g + momentum v;  w <- w - v
struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr int states = 1;  // velocity
  static constexpr bool heavy = false;
  float learning_rate = 0.01f;
  float momentum = 0;

  constexpr bool plain() const { return momentum == 0; }
  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    state[0] = Math<T>::fma(T{} + momentum, state[0], gradient * learning_rate);
    weight = weight - state[0];
  }
  bool operator==(Sgd const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Sgd, learning_rate, momentum);
