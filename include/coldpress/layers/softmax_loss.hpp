// The loss SoftmaxLoss: cross entropy of scores with class numbers.
#pragma once

#include <coldpress/core/classes.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// -Σ w log p[label], divided by the batch size and the number of positions, for p = softmax(y) along one axis, which
/// has the classes. As in Mocha. The target is a class number per position, counted from 0, and w is the factor of that
/// class: its number in class_weights as it is where `normalize` is none, otherwise scaled so that the factors of all
/// classes sum to their number. In the value, p is clamped to at least 1e-20. The gradient is w (p - 1[label]), divided
/// by the number of positions. With label smoothing s, the loss is 1 - s of that, plus s / C of the sum over all C
/// classes k of -w[k] log p[k] (PyTorch's CrossEntropyLoss; Szegedy et al. 2015). Positions whose label is
/// `ignore_index` are left out of the sum and of the number of positions of their sample, and have no gradient; a
/// sample of only such positions has a loss of 0. PyTorch instead divides by the number of positions that count in the
/// whole batch.
struct SoftmaxLoss {
  static constexpr std::string_view name = "softmax_loss";
  static constexpr std::string_view mean_over = "samples and positions";
  ClassWeights class_weights = {};
  ClassNormalization normalize = ClassNormalization::local;
  int axis = 0;
  float loss_weight = 1;  // a factor of the value and the gradient
  float label_smoothing = 0;
  int ignore_index = usual_ignore_index;

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(label_smoothing >= 0 && label_smoothing <= 1, "softmax_loss: label_smoothing must be from 0 to 1");
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
      auto const log_of = [&](Index k) { return freestanding::max(p.log(k), static_cast<T>(smallest_log)); };
      T const smoothing = static_cast<T>(label_smoothing);
      T const weight = class_weights.factor<T>(label) * share * (1 - smoothing);
      total -= log_of(label) * weight;
      if (label_smoothing == 0) {
        for (Index k = 0; k < a.extent; ++k) dy[start + k * a.inner] = (p(k) - static_cast<T>(k == label)) * weight;
        return;
      }
      T const each = share * smoothing / static_cast<T>(a.extent);
      auto const factor = [&](Index k) { return class_weights.factor<T>(k) * each; };
      T const all = sum_over<T>(a.extent, factor);
      total -= sum_over<T>(a.extent, [&](Index k) { return factor(k) * log_of(k); });
      for (Index k = 0; k < a.extent; ++k) {
        dy[start + k * a.inner] = (p(k) - static_cast<T>(k == label)) * weight + (p(k) * all - factor(k));
      }
    });
    return total;
  }
  bool operator==(SoftmaxLoss const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SoftmaxLoss, class_weights, normalize, axis, loss_weight, label_smoothing, ignore_index);
