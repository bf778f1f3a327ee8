// Depthwise convolutions of images, in which each group has one channel; depthwise_3x3.hpp has the most usual ones.
#pragma once

// The lanes are positions. An image's channel is copied into planes with its padding, one for each place that a
// position can have between the steps of a stride. What a tap sees of the whole output is then contiguous, but for a
// few columns between the rows of the output, which are computed and dropped. Shapes are arguments.

#include <coldpress/backend/panel.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// What a plane has of an axis: `count` values, every stride'th from `from` on, which are at `first` in the plane.
struct PlaneRange {
  Index first, from, count;
};
constexpr PlaneRange range_of(Axis const& axis, Index phase, Index extent) {
  Index const stride = axis.stride;
  auto const parts = [&](Index n) {  // without a division for the usual strides: it is computed for each channel
    return stride == 1 ? n : stride == 2 ? (n + 1) / 2 : parts_of(n, stride);
  };
  Index const first = freestanding::min(parts(freestanding::max<Index>(axis.padding - phase, 0)), extent),
              from = first * stride + phase - axis.padding;
  return {first, from, freestanding::within<Index>(parts(axis.in - from), 0, extent - first)};
}

/// Writes the values of a channel into its planes, whose padding is zero and stays so.
template <class = void>
__attribute__((noinline)) void spread_channel(ConvolutionGeometry const& g, DepthwisePlanes const& planes,
                                              float const* x, float* to) {
  Index const stride = g.width.stride, width = g.width.in;
  for (Index down = 0; down < g.height.stride; ++down) {
    PlaneRange const rows = range_of(g.height, down, planes.rows);
    for (Index right = 0; right < stride; ++right, to += planes.rows * planes.pitch) {
      PlaneRange const columns = range_of(g.width, right, planes.pitch);
      float const* at = x + rows.from * width + columns.from;
      float* out = to + rows.first * planes.pitch + columns.first;
      auto const each_row = [&](auto copy_row) COLDPRESS_INLINE_LAMBDA {
        for (Index i = 0; i < rows.count; ++i, at += g.height.stride * width, out += planes.pitch) copy_row();
      };
      if (stride == 1) {  // the zeros behind a row are where padding is, or what the next row writes
        each_row([&]() COLDPRESS_INLINE_LAMBDA { copy_over(out, at, columns.count); });
      } else if (stride == 2) {
        each_row([&]() COLDPRESS_INLINE_LAMBDA { copy_every_second_over(out, at, columns.count); });
      } else {
        each_row([&]() COLDPRESS_INLINE_LAMBDA {
          for (Index j = 0; j < columns.count; ++j) out[j] = at[j * stride];
        });
      }
    }
  }
}

/// The number of vectors of outputs that are summed at once: enough that none waits for the term before.
inline constexpr int depthwise_sums = 8;
/// The sums of w vectors of outputs, over the taps in their order.
template <int w>
COLDPRESS_INLINE void sum_taps(Index taps, Index const* offsets, float const* planes, float const* weight,
                               Index weight_pitch, float bias, float* to) {
  Vector sum[w] = {};
  for (Index d = 0; d < taps; ++d, weight += weight_pitch) {
    Vector const factor = splat(*weight);
    float const* const at = planes + offsets[d];
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) sum[j] = fma(factor, load(at + j * lanes), sum[j]);
  }
  COLDPRESS_UNROLL
  for (int j = 0; j < w; ++j) store(to + j * lanes, sum[j] + splat(bias));
}

/// y = x * W + bias
template <class = void>
__attribute__((noinline)) void convolve_depthwise(ConvolutionGeometry const& g, In x, float const* weight,
                                                  float const* bias, Out y, float* scratch) {
  DepthwisePlanes const planes{g};
  Index offsets[DepthwisePlanes::most_taps];
  for (Index r = 0; r < g.height.filter; ++r) {
    for (Index s = 0; s < g.width.filter; ++s) {
      Index const down = r * g.height.dilation, right = s * g.width.dilation;
      Index const plane = down % g.height.stride * g.width.stride + right % g.width.stride;
      offsets[r * g.width.filter + s] = (plane * planes.rows + down / g.height.stride) * planes.pitch +  //
                                        right / g.width.stride;
    }
  }
  float* const sums = scratch + planes.inputs();
  zero(scratch, planes.inputs());
  Index const pitch = Layout::pitch(g.outputs), width = g.width.out, padded = vectors(width) * lanes;
  for (Index i = 0; i < x.rows; ++i) {
    float *to = y.row(i), *const end = to + g.out();
    for (Index c = 0; c < g.channels; ++c) {
      spread_channel(g, planes, x.row(i) + c * g.height.in * g.width.in, scratch);
      for (Index k = c * g.group_outputs(); k < (c + 1) * g.group_outputs(); ++k) {
        split<depthwise_sums>(vectors((g.height.out - 1) * planes.pitch + width),
                              [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
                                sum_taps<w>(g.taps(), offsets, scratch + v * lanes, weight + k, pitch,
                                            bias ? bias[k] : 0.f, sums + v * lanes);
                              });
        for (Index row = 0; row < g.height.out; ++row, to += width) {
          float const* const from = sums + row * planes.pitch;
          if (end - to < padded) {
            copy(to, from, width);
          } else {  // the next row overwrites what is too much
            for (Index j = 0; j < width; j += lanes) store(to + j, load(from + j));
          }
        }
      }
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
