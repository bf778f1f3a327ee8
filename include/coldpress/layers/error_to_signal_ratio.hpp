// The loss ErrorToSignalRatio: the energy of the error over that of the target.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ f(y - t)² / (Σ f(t)² + epsilon) for each sample, a sequence {steps, ...} or {steps}; the loss of models of
/// amplifiers (Wright et al. 2019). f is the pre-emphasis filter 1 - c z^-1 along the steps, c being `pre_emphasis`.
/// With c = 0 it is left out. Otherwise the first step, whose predecessor is not known, does not count.
struct ErrorToSignalRatio {
  static constexpr std::string_view name = "error_to_signal_ratio";
  static constexpr std::string_view mean_over = "samples";
  float pre_emphasis = 0;
  float epsilon = 1e-8f;
  float loss_weight = 1;  // a factor of the value and the gradients

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(is_finite(pre_emphasis), "error_to_signal_ratio: pre_emphasis must be a finite number");
    require(epsilon > 0 && is_finite(epsilon), "error_to_signal_ratio: epsilon must be a finite number above 0");
    require(pre_emphasis == 0 || in[0] > 1, "error_to_signal_ratio: a pre-emphasis needs at least two steps");
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    Along const a{in, 0};
    Index const size = in.size(), first = pre_emphasis == 0 ? 0 : a.inner;
    auto const c = static_cast<double>(pre_emphasis);
    // In double precision, because thousands of squares are added.
    auto const error = [&](Index i) { return static_cast<double>(y[i]) - static_cast<double>(t[i]); };
    auto const wanted = [&](Index i) { return static_cast<double>(t[i]); };
    auto const filtered = [&](auto const& x, Index i) { return first == 0 ? x(i) : x(i) - c * x(i - a.inner); };
    double of_error = 0, of_target = static_cast<double>(epsilon);
    for (Index i = first; i < size; ++i) {
      double const e = filtered(error, i), s = filtered(wanted, i);
      of_error += e * e, of_target += s * s;
    }
    double const ratio = of_error / of_target, scale = 2 * static_cast<double>(loss_weight) / of_target;
    // Half of the derivative of Σ f(x)²: the filter applied backwards to f(x).
    auto const slope = [&](auto const& x, Index i) {
      double const own = i >= first ? filtered(x, i) : 0;
      return first > 0 && i + a.inner < size ? own - c * filtered(x, i + a.inner) : own;
    };
    for (Index i = 0; i < size; ++i) {
      double const of_y = slope(error, i) * scale;
      dy[i] = static_cast<T>(of_y);
      if (dt) dt[i] = static_cast<T>(-of_y - slope(wanted, i) * scale * ratio);
    }
    return static_cast<T>(ratio * static_cast<double>(loss_weight));
  }
  bool operator==(ErrorToSignalRatio const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ErrorToSignalRatio, pre_emphasis, epsilon, loss_weight);
