// Depthwise convolutions of images with filters of 3 x 3 and a stride of one or two.
#pragma once

// The lanes are columns of the output. The image is read where it is, with zeros where a tap sees padding: for each
// vector of columns of an output, a row is read once and serves all rows of the output that see it.

#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/split.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Reads rows of an image from some column on, with zeros where that is padding.
struct RowReader {
  Index first;        // the column that lane 0 sees; it may be less than 0
  Index before, end;  // the columns of the image are [before, end), counted from `first`

  RowReader(Index column, Index width) : first(column), before(-column), end(width - column) {}
  /// Whether so many vectors are in the row.
  bool has(Index vectors) const { return before <= 0 && end >= vectors * lanes; }
  template <bool whole>
  COLDPRESS_INLINE Vector read(float const* row, Index from = 0) const {
    float const* const p = row + first + from;
    return whole ? load(p) : load_between(p, before - from, end - from);
  }
};
/// What the three taps of a row see, in the lanes of one vector of outputs.
struct SeenByThree {
  Vector left, middle, right;

  template <int stride, bool whole>
  static COLDPRESS_INLINE SeenByThree of(float const* row, RowReader const& left, RowReader const& middle,
                                         RowReader const& right) {
    if constexpr (stride == 1) {
      return {left.read<whole>(row), middle.read<whole>(row), right.read<whole>(row)};
    } else {
      Vector const even = middle.read<whole>(row), odd = middle.read<whole>(row, lanes);
      return {every_second<0>(left.read<whole>(row), left.read<whole>(row, lanes)), every_second<0>(even, odd),
              every_second<1>(even, odd)};
    }
  }
};

/// Computes a vector of columns of one output from its channel x. `zeros` stands for rows that are padding. What is
/// stored beyond the last column, up to `end`, is overwritten with the next row, or with the columns before these.
template <int stride, bool whole>
__attribute__((noinline)) void convolve_columns_3x3(ConvolutionGeometry const& g, float const* x, float const* weight,
                                                    float bias, float* y, float* end, float const* zeros,
                                                    Index column) {
  auto const reader = [&](Index tap) { return RowReader{g.width.at(column, tap), g.width.in}; };
  RowReader const left = reader(0), middle = reader(1), right = reader(2);
  Vector factors[3][3];
  COLDPRESS_UNROLL
  for (int d = 0; d < 9; ++d) factors[d / 3][d % 3] = splat(weight[d * Layout::pitch(g.outputs)]);
  auto const see = [&](Index row) COLDPRESS_INLINE_LAMBDA {
    float const* const at = row >= 0 && row < g.height.in ? x + row * g.width.in : zeros;
    return SeenByThree::of<stride, whole>(at, left, middle, right);
  };
  auto const add = [&](Vector sum, Vector const(&by)[3], SeenByThree const& seen) COLDPRESS_INLINE_LAMBDA {
    return fma(by[2], seen.right, fma(by[1], seen.middle, fma(by[0], seen.left, sum)));
  };
  Index const width = g.width.out;
  auto const write = [&](Vector sum) COLDPRESS_INLINE_LAMBDA {
    store_row(y + column, sum + splat(bias), end - y - column >= lanes ? lanes : width - column);
    y += width;
  };
  Index row = -g.height.padding;
  SeenByThree seen = see(row);
  if constexpr (stride == 1) {
    Vector begun = add(Vector{}, factors[0], seen);  // the sum that has one row of taps
    seen = see(++row);
    Vector almost = add(begun, factors[1], seen);  // and the one that has two
    begun = add(Vector{}, factors[0], seen);
    for (Index i = 0; i < g.height.out; ++i) {
      seen = see(++row);
      write(add(almost, factors[2], seen));
      almost = add(begun, factors[1], seen), begun = add(Vector{}, factors[0], seen);
    }
  } else {
    for (Index i = 0; i < g.height.out; ++i) {
      Vector sum = add(Vector{}, factors[0], seen);
      sum = add(sum, factors[1], see(++row));
      seen = see(++row);
      write(add(sum, factors[2], seen));
    }
  }
}

/// y = x * W + bias. `zeros` is memory for a row of the image.
template <class = void>
__attribute__((noinline)) void convolve_depthwise_3x3(ConvolutionGeometry const& g, In x, float const* weight,
                                                      float const* bias, Out y, float* zeros) {
  zero(zeros, g.width.in);
  auto const convolve = [&](auto stride) COLDPRESS_INLINE_LAMBDA {
    for (Index i = 0; i < x.rows; ++i) {
      float* const end = y.row(i) + g.out();
      for (Index k = 0; k < g.outputs; ++k) {
        float const* const from = x.row(i) + k / g.group_outputs() * g.height.in * g.width.in;
        for (Index column = (vectors(g.width.out) - 1) * lanes; column >= 0; column -= lanes) {
          auto const has_all = [&](Index tap) { return RowReader{g.width.at(column, tap), g.width.in}.has(stride); };
          bool const whole = has_all(0) && has_all(2);
          auto const rows = whole ? convolve_columns_3x3<stride, true> : convolve_columns_3x3<stride, false>;
          rows(g, from, weight + k, bias ? bias[k] : 0, y.row(i) + k * g.positions(), end, zeros, column);
        }
      }
    }
  };
  g.width.stride == 1 ? convolve(Int<1>{}) : convolve(Int<2>{});
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
