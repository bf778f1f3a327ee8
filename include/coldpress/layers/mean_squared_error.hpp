#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ (y - t)² / N with N the batch, not the number of values; the gradient is 2 (y - t) (that of the sum).
struct MeanSquaredError {
  static constexpr std::string_view name = "mean_squared_error";
  float loss_weight = 1;  // a factor of value and gradient

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    return (y - t) * (y - t) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    return 2 * (y - t) * loss_weight;
  }
  bool operator==(MeanSquaredError const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::MeanSquaredError, loss_weight);
