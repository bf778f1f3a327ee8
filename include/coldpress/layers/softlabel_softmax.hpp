// The loss SoftlabelSoftmax: cross entropy of scores with distributions.
#pragma once

#include <coldpress/core/classes.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// -Σ t log p, divided by the batch size and the number of positions, for p = softmax(y) along one axis. The targets t
/// have y's shape and are a distribution at each position. As in Mocha. In the value, p is clamped to at least 1e-20.
/// Gradients: p Σt - t (which is Mocha's p - t if Σt = 1), and -log p with respect to the targets, both divided by the
/// number of positions.
struct SoftlabelSoftmax {
  static constexpr std::string_view name = "softlabel_softmax";
  static constexpr std::string_view mean_over = "samples and positions";
  int axis = 0;           // of the classes
  float loss_weight = 1;  // a factor of the value and the gradients

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
      LineSoftmax<T> const p{y + start, dy + start, a};
      auto const target_of = [&](Index k) { return t[start + k * a.inner]; };
      auto const log_of = [&](Index k) { return freestanding::max(p.log(k), static_cast<T>(smallest_log)); };
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
