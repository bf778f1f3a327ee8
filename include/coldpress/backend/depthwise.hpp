// Convolutions of images in which each group has one channel: depthwise convolutions.
#pragma once

// The lanes are positions. An image's channel is copied into planes with its padding, one for each place that a
// position can have between the steps of a stride. What a tap sees of the whole output is then contiguous, but for a
// few columns between the rows of the output, which are computed and dropped. Shapes are arguments.

#include <coldpress/backend/panel.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Writes the values of a channel into its planes, whose padding is zero and stays so.
template <class = void>
__attribute__((noinline)) void spread_channel(ConvolutionGeometry const& g, DepthwisePlanes const& planes,
                                              float const* x, float* to) {
  Index const stride = g.width.stride;
  for (Index down = 0; down < g.height.stride; ++down) {
    for (Index right = 0; right < stride; ++right, to += planes.rows * planes.pitch) {
      Index const before = freestanding::max<Index>(g.width.padding - right, 0),
                  first = freestanding::min((before + stride - 1) / stride, planes.pitch),
                  from = first * stride + right - g.width.padding,
                  end = freestanding::min(g.width.in, from + (planes.pitch - first) * stride);
      for (Index i = 0; i < planes.rows; ++i) {
        Index const row = i * g.height.stride + down - g.height.padding;
        if (row < 0 || row >= g.height.in) continue;
        float const* const at = x + row * g.width.in;
        float* out = to + i * planes.pitch + first;
        if (stride == 1) {  // the zeros behind it are where padding is, or what the next row writes
          copy_over(out, at + from, end - from);
        } else if (stride == 2) {
          for (Index j = from; j < end; j += 2) *out++ = at[j];
        } else {
          for (Index j = from; j < end; j += stride) *out++ = at[j];
        }
      }
    }
  }
}

/// The sums of w vectors of outputs, over the taps in their order.
template <int w>
COLDPRESS_INLINE void sum_taps(Index taps, Index const* offsets, float const* planes, float const* weight,
                               Index weight_pitch, float bias, float* to) {
  Vector sum[w] = {};
  for (Index d = 0; d < taps; ++d, weight += weight_pitch) {
    Vector const factor = splat(*weight);
    float const* const at = planes + offsets[d];
    unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { sum[j] = fma(factor, load(at + j * lanes), sum[j]); });
  }
  unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { store(to + j * lanes, sum[j] + splat(bias)); });
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
  Index const pitch = Layout::pitch(g.outputs), width = g.width.out;
  for (Index i = 0; i < x.rows; ++i) {
    float* to = y.row(i);
    for (Index c = 0; c < g.channels; ++c) {
      spread_channel(g, planes, x.row(i) + c * g.height.in * g.width.in, scratch);
      for (Index k = c * g.group_outputs(); k < (c + 1) * g.group_outputs(); ++k) {
        split<2 * tile_columns>(vectors((g.height.out - 1) * planes.pitch + width),
                                [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
                                  sum_taps<w>(g.taps(), offsets, scratch + v * lanes, weight + k, pitch,
                                              bias ? bias[k] : 0.f, sums + v * lanes);
                                });
        for (Index row = 0; row < g.height.out; ++row, to += width) copy(to, sums + row * planes.pitch, width);
      }
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
