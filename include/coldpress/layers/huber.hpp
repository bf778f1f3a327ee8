// The loss Huber: half of the squared error where that is small, and its absolute value beyond.
#pragma once

#include <coldpress/core/layer.hpp>
#include <coldpress/layers/mean_squared_error.hpp>

namespace coldpress {

/// Σ h(y - t), divided by the batch size, where h(e) is e² / 2 up to |e| = delta, and delta (|e| - delta / 2) beyond
/// (PyTorch's HuberLoss; Huber 1964). PyTorch's SmoothL1Loss is this divided by its beta: {.delta = beta, .loss_weight
/// = 1 / beta}. Gradients: y - t, held between -delta and delta, and its negative with respect to the targets. With
/// Average::values, all are also divided by the number of values per sample.
struct Huber {
  static constexpr std::string_view name = "huber";
  static constexpr std::string_view mean_over = MeanSquaredError::mean_over;
  float delta = 1;
  float loss_weight = 1;  // a factor of the value and the gradients
  Average loss_average = Average::samples;

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(delta > 0 && is_finite(delta), "huber: delta must be a finite number above 0");
    return in;
  }
  /// The loss's weight for values of a shape.
  constexpr float weight_for(Shape const& in) const {
    return loss_average == Average::values ? loss_weight / static_cast<float>(in.size()) : loss_weight;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    T const e = y - t, size = e < T{} ? -e : e;
    return (size < T{} + delta ? e * e * 0.5f : (size - delta / 2) * delta) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    T const e = y - t, below = e > T{} + delta ? T{} + delta : e;
    return (below < T{} - delta ? T{} - delta : below) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T y, T t) const {
    return gradient(t, y);
  }
  bool operator==(Huber const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Huber, delta, loss_weight, loss_average);
