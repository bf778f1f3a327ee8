// AdamW: Loshchilov and Hutter 2019, algorithm 2, with the decay scaled by the learning rate as in PyTorch.
#pragma once

#include <coldpress/optim/adam.hpp>

namespace coldpress {

/// Like Adam, but w also shrinks by learning_rate weight_decay w. The decay does not pass through the means.
struct AdamW {
  static constexpr std::string_view name = "adamw";
  static constexpr int states = 2;  // m, v
  static constexpr bool heavy = true;
  float learning_rate = 0.001f;
  float beta1 = 0.9f, beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.01f;

  constexpr AdamW at(std::uint64_t t) const {
    AdamW adam = *this;
    double const factor = detail::correct_bias(adam, t);
    adam.weight_decay = static_cast<float>(static_cast<double>(weight_decay) / factor);  // learning_rate contains it
    return adam;
  }
  template <class T>
  __attribute__((always_inline)) constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    T const direction = detail::adam_direction(*this, gradient, state);
    weight = Math<T>::fma(T{} - learning_rate, Math<T>::fma(T{} + weight_decay, weight, direction), weight);
  }
  bool operator==(AdamW const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::AdamW, learning_rate, beta1, beta2, epsilon, weight_decay);
