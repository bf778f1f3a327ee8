#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The part of positions at which the largest score along an axis is the label's; Mocha's. Reads scores and labels, at
/// each position one, from 0. The first of equal scores counts; a NaN is the largest of all.
struct Accuracy {
  static constexpr std::string_view name = "accuracy";
  int axis = 0;
  bool report_error = false;  // instead: 1 less that

  static constexpr int sums = 2;  // positions that are right, and all
  constexpr Index classes(Shape const& in) const { return in[axis_of(in, axis)]; }
  constexpr void check(Shapes in) const {
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
