// The loss NegativeLogLikelihood: minus the output at the label.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// -Σ y[label] / N for log-probabilities y of num_classes classes and N samples. The target is the class number,
/// counted from 0. The gradient is that of the sum, -1 at the label. After Softmax it is Juice's -p[label]; after
/// LogSoftmax it is the usual cross entropy.
struct NegativeLogLikelihood {
  static constexpr std::string_view name = "negative_log_likelihood";
  static constexpr std::string_view mean_over = "samples";
  Index num_classes = 10;
  float loss_weight = 1;  // a factor of the value and the gradient

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(in.size() == num_classes, "negative_log_likelihood: the network's output must have num_classes values",
            num_classes);
    return {1};
  }
  static constexpr Target target = Target::label;
  constexpr Index classes(Shape) const { return num_classes; }
  template <class T>
  constexpr T value(T y, T) const {
    return -(y * loss_weight);
  }
  template <class T>
  constexpr T gradient(T, T) const {
    return T{} - loss_weight;
  }
  bool operator==(NegativeLogLikelihood const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::NegativeLogLikelihood, num_classes, loss_weight);
