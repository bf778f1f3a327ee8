// The weight gradient of a convolution of images that are not in blocks.
#pragma once

// The lanes are outputs, pixels are broadcast, and taps on padding are skipped. Shapes are arguments.

#include <coldpress/backend/image_blocks.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/work_partition.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

// The sums of a tile: vectors of outputs x taps of a row of the filter, of which there are at most 3 if the row has
// no 5.
#if defined __AVX512F__ || defined __aarch64__
inline constexpr int output_vectors = 4, with_few_taps = 4;
#else
inline constexpr int output_vectors = 2, with_few_taps = 3;
#endif

/// A matrix of ones: its product with another matrix is the sum of that matrix's rows.
COLDPRESS_INLINE Left ones() {
  static constexpr float one = 1;
  return {&one, 0, 0};
}

/// For h taps of each row of the filter, from tap s on, and w vectors of outputs: adds to a matrix {tap, output} the
/// sums over positions of dy {position, output} times what the tap sees of a plane of x.
template <int h, int w>
__attribute__((noinline)) void correlate_pixels(ConvolutionGeometry const& g, float const* x, Right<float> dy, Index s,
                                                Added to) {
  WindowRanges<h> const ranges = tap_ranges<h>(g.width, s);
  x += g.width.at(ranges.begin, s);
  dy.data += ranges.begin * dy.pitch;
  for (Index r = 0; r < g.height.filter; ++r, to.y += g.width.filter * to.pitch) {
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n)  // large filters are in no cache
      __builtin_prefetch(to.y + n / w * to.pitch + n % w * lanes, 1);
    Vector sum[h][w] = {};
    Index const last = g.height.last(r);
    for (Index i = g.height.first(r); i < last; ++i) {
      float const* at = x + g.height.at(i, r) * g.width.in;
      Right<float> row{dy.data + i * g.width.out * dy.pitch, dy.pitch};
      ranges.go(
          [&](auto first, auto end) COLDPRESS_INLINE_LAMBDA {
            constexpr int f = first, m = end - f;
            Vector of[w];
            COLDPRESS_UNROLL
            for (int k = 0; k < w; ++k) of[k] = load_once(row.data + k * lanes);
            COLDPRESS_UNROLL
            for (int t = 0; t < m; ++t) {
              Vector const v = splat(at[(f + t) * g.width.dilation]);
              COLDPRESS_UNROLL
              for (int k = 0; k < w; ++k) sum[f + t][k] = fma(v, of[k], sum[f + t][k]);
            }
          },
          [&]() COLDPRESS_INLINE_LAMBDA { at += g.width.stride, row.next(); });
    }
    to.finish(sum, 0, 0);
  }
}

/// Adds the gradient of the weights {depth, outputs} to `gradient`, and that of the biases to `biases` unless it is
/// null, for some images. Both are among the first `shared` floats of scratch.
template <ImageKernels kernels = ImageKernels{}>
__attribute__((noinline)) void image_weight_gradient(WorkPartition const& context, ConvolutionGeometry const& g,
                                                     Rows<float const> x, Rows<float const> dy, Index shared,
                                                     float* biases) {
  Index const pitch = Layout::pitch(g.outputs), in = g.height.in * g.width.in, channels = g.group_channels(),
              own = Layout::pitch(g.group_outputs()), width = g.width.out;
  OneOf<kernels.outputs> const outputs{g.group_outputs()};
  bool const few_taps = with_few_taps > output_vectors && g.width.filter < 5;
  Index const parts = parts_of(vectors(outputs), few_taps ? with_few_taps : output_vectors), tiles = parts * channels,
              most = freestanding::within<Index>(Layout::most_turned / (width * own), 1, g.height.out);
  bool const ordinary = kernels.pointwise && g.sees_one();  // a plain matrix product of x and dy
  float *const gradient = context.scratch, *const turned = gradient + shared;
  for (Index image = 0; image < x.rows; ++image) {
    for (Index first = 0; first < g.height.out; first += most) {
      ConvolutionGeometry some = g;  // for some rows of the output
      some.height.out = freestanding::min(most, g.height.out - first);
      some.height.padding -= first * g.height.stride;
      for (Index group = 0; group < g.groups; ++group) {
        float const* const planes = x.row(image) + group * channels * in;
        Added const to{gradient + group * outputs, pitch, outputs};
        transpose<true>(outputs, some.positions(), dy.row(image) + group * outputs * g.positions() + first * width,
                        g.positions(), turned, own);
        if (biases)
          context.multiply(Fixed<1>{}, outputs, some.positions(), ones(), Right{turned, own},
                           Added{biases + group * outputs, 0, outputs}, 0, context.panels_of(outputs));
        if constexpr (kernels.pointwise) {
          if (ordinary) {
            context.multiply(OneOf<kernels.channels>{channels}, outputs, some.positions(),
                             Left{planes + first * width, in, 1}, Right{turned, own}, to, 0,
                             context.panels_of(outputs));
            continue;
          }
        }
        context.each(tiles, some.products() / (g.groups * tiles), [&](Index begin, Index end, int) {
          for (Index i = begin; i < end; ++i) {
            Index const part = i / channels, c = i % channels;
            auto const correlate = [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
              Index const k = v * lanes;
              split_taps<kernels>(g.width.filter, [&](Index s, auto h) COLDPRESS_INLINE_LAMBDA {
                if constexpr (h < 5 || w <= output_vectors) {  // others do not occur
                  correlate_pixels<h, w>(some, planes + c * in, {turned + k, own}, s,
                                         {to.y + (c * g.taps() + s) * pitch + k, pitch, outputs - k});
                }
              });
            };
            few_taps ? split<with_few_taps>(vectors(outputs), correlate, {part, part + 1})
                     : split<output_vectors>(vectors(outputs), correlate, {part, part + 1});
          }
        });
      }
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
