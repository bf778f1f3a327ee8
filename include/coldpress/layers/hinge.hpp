// The loss Hinge, for targets of 1 and -1.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ max(0, 1 - t y), divided by the batch size, for targets of 1 and -1. As in Mocha, except that the weight also
/// multiplies the value. Gradients where 1 - t y > 0: -t, and -y with respect to the targets; elsewhere 0.
struct Hinge {
  static constexpr std::string_view name = "hinge";
  static constexpr std::string_view mean_over = "samples, each with the sum over its values";
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    T const m = margin(y, t);
    return (m < T{} ? T{} : m) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    return margin(y, t) <= T{} ? T{} : -t * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T target_gradient(T y, T t) const {
    return margin(y, t) <= T{} ? T{} : -y * loss_weight;
  }
  bool operator==(Hinge const&) const = default;

 private:
  template <class T>
  __attribute__((always_inline)) static constexpr T margin(T y, T t) {
    return Math<T>::fma(-t, y, Math<T>::number(1));
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Hinge, loss_weight);
