// The metric Accuracy: the fraction of labels that get the largest score.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The fraction of positions at which the largest score along an axis is that of the label, as in Mocha. It reads
/// scores and labels, one label per position, counted from 0. The first of equal scores counts, and a NaN is larger
/// than anything.
struct Accuracy {
  static constexpr std::string_view name = "accuracy";
  int axis = 0;
  bool report_error = false;  // report 1 - accuracy

  static constexpr int sums = 2;  // correct positions, and all positions
  constexpr Index classes(Shape const& in) const { return in[axis_of(in, axis)]; }
  template <class Needs = Require>
  constexpr void check(Shapes in, Needs require = {}) const {
    require(in.size() == 2, "accuracy: reads two values, scores and labels");
    require(in[1].size() == Along{in[0], axis}.lines(), "accuracy: there must be one label at each position");
  }
  template <class T>
  constexpr void observe(Shapes in, T const* const* x, double* total) const {
    Along const a{in[0], axis};
    for (Index n = 0; n < a.lines(); ++n) {
      Index const best = first_maximum(x[0] + a.line(n), a.extent, a.inner);
      total[0] += x[1][n] == static_cast<T>(best);
    }
    total[1] += static_cast<double>(a.lines());
  }
  double report(double const* total) const {
    double const right = total[0] / total[1];
    return report_error ? 1 - right : right;
  }
  bool operator==(Accuracy const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Accuracy, axis, report_error);
