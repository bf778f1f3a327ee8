// The statistic Accuracy: the fraction of labels that get the largest score.
#pragma once

#include <coldpress/core/classes.hpp>

namespace coldpress {

/// The fraction of positions at which the largest score along an axis is that of the label, as in Mocha. It reads
/// scores and labels, one label per position, counted from 0. The first of equal scores counts, and a NaN is larger
/// than anything. Positions whose label is `ignore_index` are not counted. Without positions that count, it is NaN.
struct Accuracy {
  static constexpr std::string_view name = "accuracy";
  int axis = 0;
  bool report_error = false;  // report 1 - accuracy
  int ignore_index = usual_ignore_index;

  static constexpr int sums = 2;  // correct positions, and all that count
  constexpr Index classes(Shape const& in) const { return in[axis_of(in, axis)]; }
  template <class Needs = Require>
  constexpr void check(Shapes in, Needs require = {}) const {
    require(in.size() == 2, "accuracy: reads two values, scores and labels");
    check_ignore_index(ignore_index);
    require(in[1].size() == Along{in[0], axis}.lines(), "accuracy: there must be one label at each position");
  }
  template <class T>
  constexpr void observe(Shapes in, T const* const* x, double* total) const {
    Along const a{in[0], axis};
    for (Index n = 0; n < a.lines(); ++n) {
      if (is_ignored(*this, x[1][n])) continue;
      Index const best = first_maximum(x[0] + a.line(n), a.extent, a.inner);
      total[0] += x[1][n] == static_cast<T>(best);
    }
    total[1] += static_cast<double>(labels_that_count(*this, x[1], a.lines()));
  }
  double report(double const* total) const {
    double const right = total[0] / total[1];
    return report_error ? 1 - right : right;
  }
  bool operator==(Accuracy const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Accuracy, axis, report_error, ignore_index);
