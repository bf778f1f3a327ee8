// The loss BinaryCrossEntropy, for probabilities.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// -Σ (t log p + (1 - t) log(1 - p)), divided by the batch size, for probabilities p and t. p is clamped to [2^-23, 1 -
/// 2^-23], so that no value has a loss above 16 or a gradient beyond 2^23, and a completely wrong value still learns.
/// Gradients: (p - t) / (p (1 - p)), and log(1 - p) - log p with respect to the targets.
struct BinaryCrossEntropy {
  static constexpr std::string_view name = "binary_cross_entropy";
  static constexpr std::string_view mean_over = "samples, each with the sum over its values";
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    T const p = inside(y);
    return -(Math<T>::fma(t, Math<T>::log(p), (1 - t) * Math<T>::log(1 - p)) * loss_weight);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    T const p = inside(y);
    return (p - t) / (p * (1 - p)) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T y, T) const {
    T const p = inside(y);
    return (Math<T>::log(1 - p) - Math<T>::log(p)) * loss_weight;
  }
  bool operator==(BinaryCrossEntropy const&) const = default;

 private:
  template <class T>
  __attribute__((always_inline)) static constexpr T inside(T y) {
    T const low = Math<T>::number(0x1p-23), high = 1 - low;
    T const p = y < low ? low : y;
    return p > high ? high : p;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::BinaryCrossEntropy, loss_weight);
