// How the windows of a convolution lie along an axis.
#pragma once

// This header has the ranges of outputs for which taps are on the input, loops over neighbouring taps at once, and the
// phases of a strided convolution in the backward pass.

#include <coldpress/backend/tile.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The taps [first, last) of an axis that are on the input for `output`.
struct TapsAt {
  Index first, last;
  COLDPRESS_INLINE TapsAt(Axis const& axis, Index output) {
    Index const begin = axis.at(output, 0), d = axis.dilation;
    auto const below = [&](Index end) {
      return end <= 0 ? 0 : freestanding::min(axis.filter, d == 1 ? end : (end + d - 1) / d);
    };
    first = below(-begin), last = freestanding::max(first, below(axis.in - begin));
  }
};

/// A joint loop of n neighbours along an axis. Neighbour i has work at the places [first[i], last[i]), and both bounds
/// decrease with i. So at first only some of the last neighbours have work, then all, then some of the first, unless
/// the axis is `narrow`.
template <int n>
struct WindowRanges {
  Index begin, end, first[n] = {}, last[n] = {};
  bool narrow, plain;

  template <class Range>
  COLDPRESS_INLINE WindowRanges(int count, Range range) {
    for_constants<n>([&](auto i) COLDPRESS_INLINE_LAMBDA {
      auto const [from, to] = range(Index{i});
      bool const takes_part = i < count;
      first[i] = takes_part ? from : first[0], last[i] = takes_part ? to : first[0];
    });
    begin = first[count - 1], end = last[0];
    plain = count == n && begin == first[0] && end == last[n - 1];
    narrow = first[0] > last[count - 1] || (count < n && begin < first[0]);
  }
  /// Calls body(Int<i>, Int<j>) at each place from begin to end for the neighbours [i, j) that have work there, then
  /// next().
  template <class Body, class Next>
  COLDPRESS_INLINE void go(Body body, Next next) const {
    Index at = begin;
    if (narrow && !plain) {
      for (; at < end; ++at, next()) {
        for_constants<n>([&](auto i) COLDPRESS_INLINE_LAMBDA {
          if (first[i] <= at && at < last[i]) body(i, Int<i + 1>{});
        });
      }
      return;
    }
    if (!plain) {
      for_constants<n - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
        for (; at < first[n - 2 - i]; ++at, next()) body(Int<n - 1 - i>{}, Int<n>{});
      });
    }
    Index const to = last[n - 1];
    for (; at + 2 <= to; at += 2) {  // halves the number of branches of short loops
      body(Int<0>{}, Int<n>{}), next();
      body(Int<0>{}, Int<n>{}), next();
    }
    if (at < to) body(Int<0>{}, Int<n>{}), next(), ++at;
    if (plain) return;
    for_constants<n - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
      for (; at < last[n - 2 - i]; ++at, next()) body(Int<0>{}, Int<n - 1 - i>{});
    });
  }
};

/// n taps of an axis from tap `first` on, each over the outputs for which it is on the input.
template <int n>
COLDPRESS_INLINE WindowRanges<n> tap_ranges(Axis const& axis, Index first) {
  struct Range {
    Index first, last;
  };
  return WindowRanges<n>{n, [&](Index t) COLDPRESS_INLINE_LAMBDA {
                           return Range{axis.first(first + t), axis.last(first + t)};
                         }};
}

/// One phase of an axis in the backward pass. The inputs phase, phase + stride, ... are a convolution of the outputs
/// with those taps, in reverse order, that meet outputs there. `axis` describes the convolution, and tap(m) gives the
/// taps.
struct Phase {
  Axis axis;

  COLDPRESS_INLINE Phase(Axis const& a, Index phase) {
    step_ = a.stride;
    for (Index n = 1; n < step_; ++n) {
      if (n * a.dilation % a.stride == 0) step_ = n;
    }
    while (first_ < step_ && (phase + a.padding - first_ * a.dilation) % a.stride != 0) ++first_;
    Index const count = first_ < step_ && first_ < a.filter ? (a.filter - first_ + step_ - 1) / step_ : 0;
    last_ = first_ + (count - 1) * step_;
    axis = {.in = a.out, .out = (a.in - phase + a.stride - 1) / a.stride, .filter = count};
    axis.dilation = step_ * a.dilation / a.stride;
    if (count > 0) axis.padding = -((phase + a.padding - last_ * a.dilation) / a.stride);
  }
  COLDPRESS_INLINE Index tap(Index m) const { return last_ - m * step_; }

 private:
  Index first_ = 0, last_, step_;
};
/// f(phase of the height, phase of the width, offset of the first value of both in the plane), for all phases.
template <class F>
COLDPRESS_INLINE void for_each_phase(ConvolutionGeometry const& g, F f) {
  for (Index i = 0; i < freestanding::min(g.height.stride, g.height.in); ++i) {
    for (Index j = 0; j < freestanding::min(g.width.stride, g.width.in); ++j)
      f(Phase{g.height, i}, Phase{g.width, j}, i * g.width.in + j);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
