// Nesterov's accelerated gradient in the form of Sutskever et al. 2013, which Caffe, Mocha and PyTorch share.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress {

/// v <- learning_rate g + momentum v;  w <- w - (learning_rate g + momentum v), which is a step of Sgd that looks one
/// step ahead.
struct Nesterov {
  static constexpr std::string_view name = "nesterov";
  static constexpr int states = 1;  // velocity
  static constexpr bool heavy = false;
  float learning_rate = 0.01f;
  float momentum = 0.9f;

  constexpr bool plain() const { return momentum == 0; }
  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    T const step = gradient * learning_rate, mass = T{} + momentum;
    state[0] = Math<T>::fma(mass, state[0], step);
    weight = weight - Math<T>::fma(mass, state[0], step);
  }
  bool operator==(Nesterov const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Nesterov, learning_rate, momentum);
