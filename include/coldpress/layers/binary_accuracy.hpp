// The statistic BinaryAccuracy: the fraction of values on the right side of a threshold.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The fraction of values that are on their target's side of the threshold, both above it or both not, as in Mocha.
struct BinaryAccuracy {
  static constexpr std::string_view name = "binary_accuracy";
  float threshold = 0;
  bool report_error = false;  // report 1 - accuracy

  static constexpr int sums = 2;  // correct values, and all values
  template <class Needs = Require>
  constexpr void check(Shapes in, Needs require = {}) const {
    require(in.size() == 2 && in[0].size() == in[1].size(),
            "binary_accuracy: reads two values of equal size, predictions and targets");
    require(is_finite(threshold), "binary_accuracy: the threshold must be a finite number");
  }
  template <class T>
  constexpr void observe(Shapes in, T const* const* x, double* total) const {
    Index const size = in[0].size();
    for (Index i = 0; i < size; ++i) total[0] += (x[0][i] > threshold) == (x[1][i] > threshold);
    total[1] += static_cast<double>(size);
  }
  double report(double const* total) const {
    double const right = total[0] / total[1];
    return report_error ? 1 - right : right;
  }
  bool operator==(BinaryAccuracy const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::BinaryAccuracy, threshold, report_error);
