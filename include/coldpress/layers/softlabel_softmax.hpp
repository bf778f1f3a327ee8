#pragma once

#include <coldpress/core/classes.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// -Σ t log p over the batch's size and the positions, for p = softmax(y) along one axis and targets t of y's shape, at
/// each position a distribution; Mocha's. p counts as at least 1e-20 in the value. Gradients: p Σt - t (Mocha's p - t
/// where Σt = 1), and -log p with respect to the targets, both over the positions.
struct SoftlabelSoftmax {
  static constexpr std::string_view name = "softlabel_softmax";
  static constexpr std::string_view mean_over = "samples and positions";
  int axis = 0;           // of the classes
  float loss_weight = 1;  // a factor of value and gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    static_cast<void>(axis_of(in, axis));
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    Along const a{in, axis};
    T const share = loss_weight / static_cast<T>(a.lines());
    T total{};
    for (Index n = 0; n < a.lines(); ++n) {
      Index const start = a.line(n);
      LineSoftmax<T> const p{y + start, a};
      auto const target_of = [&](Index k) { return t[start + k * a.inner]; };
      auto const log_of = [&](Index k) { return freestanding::larger(p.log(k), static_cast<T>(smallest_log)); };
      T const mass = sum_over<T>(a.extent, target_of);
      total -= sum_over<T>(a.extent, [&](Index k) { return target_of(k) * log_of(k); }) * share;
      for (Index k = 0; k < a.extent; ++k) {
        dy[start + k * a.inner] = (p(k) * mass - target_of(k)) * share;
        if (dt) dt[start + k * a.inner] = -(log_of(k) * share);
      }
    }
    return total;
  }
  bool operator==(SoftlabelSoftmax const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SoftlabelSoftmax, axis, loss_weight);
