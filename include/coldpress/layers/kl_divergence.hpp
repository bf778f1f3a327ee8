// The loss KLDivergence: the divergence of distributions from others, of which the logarithms are known.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The Kullback-Leibler divergence Σ t (log t - y), divided by the batch size, of distributions t, the targets, from
/// others whose logarithms y are the output, of a LogSoftmax for instance (PyTorch's KLDivLoss with reduction
/// "batchmean"). Gradients: -t, and log t + 1 - y with respect to the targets. 0 log 0 is 0, and so is log t + 1 at 0.
struct KLDivergence {
  static constexpr std::string_view name = "kl_divergence";
  static constexpr std::string_view mean_over = "samples, each with the sum over its values";
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    T const logarithm = t > T{} ? Math<T>::log(t) : T{};
    return t * (logarithm - y) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T t) const {
    return -t * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T y, T t) const {
    T const slope = t > T{} ? Math<T>::log(t) + 1 : T{};
    return (slope - y) * loss_weight;
  }
  bool operator==(KLDivergence const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::KLDivergence, loss_weight);
