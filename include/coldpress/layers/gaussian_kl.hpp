// The loss GaussianKL: the divergence of normal distributions from the standard normal distribution.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The Kullback-Leibler divergence of normal distributions from the standard normal distribution, Σ (μ² + σ² - 2 log σ
/// - 1) / 2, divided by the batch size, as in Mocha. It reads the means μ and, as its targets, the standard deviations
/// σ > 0. Gradients: μ, and σ - 1/σ.
struct GaussianKL {
  static constexpr std::string_view name = "gaussian_kl";
  static constexpr std::string_view mean_over = "samples, each with the sum over its values";
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T mean, T deviation) const {
    T const squares = Math<T>::fma(mean, mean, Math<T>::fma(deviation, deviation, Math<T>::number(-1)));
    return (squares - 2 * Math<T>::log(deviation)) * (loss_weight / 2);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T mean, T) const {
    return mean * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T, T deviation) const {
    return (deviation - 1 / deviation) * loss_weight;
  }
  bool operator==(GaussianKL const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::GaussianKL, loss_weight);
