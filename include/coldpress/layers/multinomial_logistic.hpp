// The loss MultinomialLogistic: cross entropy of probabilities with class numbers.
#pragma once

#include <coldpress/core/classes.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// -Σ w log p[label], divided by the batch size and the number of positions, for probabilities p along one axis, which
/// has the classes. The target is a class number per position, counted from 0, and w is the factor of that class, as
/// SoftmaxLoss computes it from class_weights and `normalize`. p is clamped to at least 1e-20. The gradient is
/// -w / p[label] at the label, divided by the number of positions. This is Mocha's loss, with the gradient that Mocha
/// lacks. Positions whose label is `ignore_index` are left out, as by SoftmaxLoss, which is the loss for scores instead
/// of probabilities.
struct MultinomialLogistic {
  static constexpr std::string_view name = "multinomial_logistic";
  static constexpr std::string_view mean_over = "samples and positions";
  ClassWeights class_weights = {};
  ClassNormalization normalize = ClassNormalization::local;
  int axis = 0;
  float loss_weight = 1;  // a factor of the value and the gradient
  int ignore_index = usual_ignore_index;

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
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
    freestanding::fill_n(dy, in.size(), T{});
    for_each_label(*this, a, labels, dy, [&](Index start, Index label, T share) {
      Index const place = start + label * a.inner;
      T const p = freestanding::max(y[place], static_cast<T>(1e-20)), weight = class_weights.factor<T>(label) * share;
      total -= Math<T>::log(p) * weight;
      dy[place] = -(weight / p);
    });
    return total;
  }
  bool operator==(MultinomialLogistic const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::MultinomialLogistic, class_weights, normalize, axis, loss_weight, ignore_index);
