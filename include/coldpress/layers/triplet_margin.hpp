// The loss TripletMargin: an anchor is to be nearer to one value than to another.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// max(0, |a - p| - |a - n| + margin), divided by the batch size, with Euclidean distances (PyTorch's
/// TripletMarginLoss, without its epsilon). The first half of the output is the positive p and the second half the
/// negative n, as Concat joins them along the first axis; the target is the anchor a. Gradients where the loss is above
/// 0: (p - a) / |a - p|, (a - n) / |a - n|, and minus their sum with respect to the anchor; 0 for a distance of 0.
struct TripletMargin {
  static constexpr std::string_view name = "triplet_margin";
  static constexpr std::string_view mean_over = "samples";
  float margin = 1;
  float loss_weight = 1;  // a factor of the value and the gradients

  template <class Needs = Require>
  constexpr Shape target_shape(Shape in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(margin >= 0 && is_finite(margin), "triplet_margin: margin must be a finite number of at least 0");
    require(in.rank() > 0 && in[0] % 2 == 0,
            "triplet_margin: the first axis must have an even extent, the positive and then the negative");
    if (require.failed()) return in;
    in.extents[0] /= 2;
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* anchor, T* dy, T* dt) const {
    Index const size = in.size() / 2;
    auto const distance = [&](T const* x) {
      double squares = 0;
      for (Index i = 0; i < size; ++i) {
        double const d = static_cast<double>(anchor[i]) - static_cast<double>(x[i]);
        squares += d * d;
      }
      return freestanding::sqrt(squares);
    };
    double const near = distance(y), far = distance(y + size), loss = near - far + static_cast<double>(margin);
    double const weight = loss <= 0 ? 0 : static_cast<double>(loss_weight);
    double const of_near = near > 0 ? weight / near : 0, of_far = far > 0 ? weight / far : 0;
    for (Index i = 0; i < size; ++i) {
      double const a = static_cast<double>(anchor[i]);
      double const positive = (static_cast<double>(y[i]) - a) * of_near;
      double const negative = (a - static_cast<double>(y[size + i])) * of_far;
      dy[i] = static_cast<T>(positive), dy[size + i] = static_cast<T>(negative);
      if (dt) dt[i] = static_cast<T>(-positive - negative);
    }
    return loss <= 0 ? T{} : static_cast<T>(loss * weight);
  }
  bool operator==(TripletMargin const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::TripletMargin, margin, loss_weight);
