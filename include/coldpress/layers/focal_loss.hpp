// The loss FocalLoss: cross entropy of scores with class numbers, less of it where the class is already probable.
#pragma once

#include <coldpress/core/classes.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// -Σ w (1 - p[label])^gamma log p[label], divided by the batch size and the number of positions, for p = softmax(y)
/// along one axis, which has the classes (Lin et al. 2017; their alpha is the factor w of the class). Targets, factors
/// and `ignore_index` are those of SoftmaxLoss, which is this with gamma = 0.
struct FocalLoss {
  static constexpr std::string_view name = "focal_loss";
  static constexpr std::string_view mean_over = "samples and positions";
  float gamma = 2;
  ClassWeights class_weights = {};
  ClassNormalization normalize = ClassNormalization::local;
  int axis = 0;
  float loss_weight = 1;  // a factor of the value and the gradient
  int ignore_index = usual_ignore_index;

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(gamma >= 0 && is_finite(gamma), "focal_loss: gamma must be a finite number of at least 0");
    class_weights.check(classes(in));
    check_ignore_index(ignore_index);
    return with_extent(in, axis, 1);
  }
  static constexpr Target target = Target::label;
  constexpr Index classes(Shape const& in) const { return in[axis_of(in, axis)]; }
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* labels, T* dy, T*) const {
    Along const a{in, axis};
    T total{};
    for_each_label(*this, a, labels, dy, [&](Index start, Index label, T share) {
      LineSoftmax<T> const p{y + start, dy + start, a};
      T const log_p = freestanding::max(p.log(label), static_cast<T>(smallest_log));
      T const rest = -freestanding::expm1(log_p);  // 1 - p, exact where p is near 1
      T const weight = class_weights.factor<T>(label) * share * freestanding::pow(rest, static_cast<T>(gamma));
      total -= log_p * weight;
      // The slope of p log(p) / (1 - p) is -1 where p is 1.
      T const slope = rest > 0 ? p(label) * log_p / rest : T{-1};
      T const factor = weight * (1 - static_cast<T>(gamma) * slope);
      for (Index k = 0; k < a.extent; ++k) dy[start + k * a.inner] = (p(k) - static_cast<T>(k == label)) * factor;
    });
    return total;
  }
  bool operator==(FocalLoss const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::FocalLoss, gamma, class_weights, normalize, axis, loss_weight, ignore_index);
