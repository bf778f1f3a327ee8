// The loss SquareLoss: half of the squared error.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ (y - t)² / 2, divided by the batch size, as in Mocha. Gradients: y - t, and t - y with respect to the targets.
struct SquareLoss {
  static constexpr std::string_view name = "square_loss";
  static constexpr std::string_view mean_over = "samples, each with the sum over its values";
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    return (y - t) * (y - t) * (loss_weight / 2);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    return (y - t) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T y, T t) const {
    return (t - y) * loss_weight;
  }
  bool operator==(SquareLoss const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SquareLoss, loss_weight);
