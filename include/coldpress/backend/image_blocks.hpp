// Convolutions of images in blocks of 16 samples, with the sample as the innermost axis (core/rows.hpp).
#pragma once

// The lanes are samples and weights are broadcast, so any number of channels fills the lanes, and taps on padding are
// skipped. Shapes are arguments.

#include <coldpress/backend/convolution_kernels.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/window_ranges.hpp>
#include <coldpress/core/executor.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

// The sums of a forward tile (outputs x pixels) and of a weight-gradient tile (outputs x taps). Together with their
// operands they fill the registers.
#if defined __AVX512F__ || defined __aarch64__
inline constexpr int block_outputs = 5, block_pixels = 4, block_rows = 5;
#else
inline constexpr int block_outputs = 5, block_pixels = 2, block_rows = 2;
#endif

/// A convolution of one block with packed weights. The planes, rows and pixels of its output need not be adjacent.
struct BlockConvolution {
  Index channels;
  Axis height, width;
  Index plane, row, pixel;  // distances in the output, in floats
  bool adds = false;        // to what is in the output
};

/// One column of tiles: h outputs and block_pixels pixels from `column` on, for all rows. Each sum runs over channels
/// and taps in order, and the bias is added last.
template <int h>
__attribute__((noinline)) void convolve_column(BlockConvolution const& g, float const* x, float const* weights,
                                               float const* bias, float* y, Index column) {
  constexpr int n = block_pixels;
  Index const step = g.width.stride * block_size, next = g.width.dilation * block_size,
              plane = g.height.in * g.width.in * block_size;
  int const count = static_cast<int>(freestanding::min<Index>(n, g.width.out - column));
  WindowRanges<n> const ranges{count, [&](Index p) COLDPRESS_INLINE_LAMBDA { return TapsAt{g.width, column + p}; }};
  x += g.width.at(column, ranges.begin) * block_size;
  weights += ranges.begin * h;
  for (int part = 0; part < block_size; part += lanes) {
    for (Index i = 0; i < g.height.out; ++i) {
      TapsAt const rows{g.height, i};
      Vector sum[h][n] = {};
      for (Index c = 0; c < g.channels; ++c) {
        for (Index r = rows.first; r < rows.last; ++r) {
          float const* w = weights + (c * g.height.filter + r) * g.width.filter * h;
          float const* at = x + part + c * plane + g.height.at(i, r) * g.width.in * block_size;
          ranges.go(
              [&](auto first, auto last) COLDPRESS_INLINE_LAMBDA {
                constexpr int f = first, m = last - f;
                Vector pixels[m];
                COLDPRESS_UNROLL
                for (int p = 0; p < m; ++p) pixels[p] = load_once(at + (f + p) * step);
                COLDPRESS_UNROLL
                for (int k = 0; k < h; ++k) {
                  Vector const b = splat(w[k]);
                  COLDPRESS_UNROLL
                  for (int p = 0; p < m; ++p) sum[k][f + p] = fma(b, pixels[p], sum[k][f + p]);
                }
              },
              [&]() COLDPRESS_INLINE_LAMBDA { at += next, w += h; });
        }
      }
      float* const to = y + part + i * g.row + column * g.pixel;
      COLDPRESS_UNROLL
      for (int k = 0; k < h; ++k) {
        Vector const b = splat(bias ? bias[k] : 0.f);
        COLDPRESS_UNROLL
        for (int p = 0; p < n; ++p) {
          float* const at = to + k * g.plane + p * g.pixel;
          if (p < count) store(at, g.adds ? load(at) + (sum[k][p] + b) : sum[k][p] + b);
        }
      }
    }
  }
}

/// All columns of tiles of up to block_outputs outputs, which are a part of one of the totals.
template <Sizes totals>
__attribute__((noinline)) void convolve_columns(Index outputs, BlockConvolution const& g, float const* x,
                                                float const* weights, float const* bias, float* y) {
  with_size_of_part<block_outputs, totals>(outputs, [&](auto h) COLDPRESS_INLINE_LAMBDA {
    for (Index column = 0; column < g.width.out; column += block_pixels)
      convolve_column<h>(g, x, weights, bias, y, column);
  });
}

/// Planes of several blocks: each block's first plane is `step` floats after that of the block before.
struct BlockPlanes {
  float const* data;
  Index step;
};

/// For h outputs and w taps of each row of the filter, from tap s on: sums dy times what the tap sees of a plane of x
/// over blocks and positions, into sums[r][tap][output][lane]. The planes of dy are contiguous.
template <int h, int w>
__attribute__((noinline)) void correlate(ConvolutionGeometry const& g, BlockPlanes x, BlockPlanes dy, Index blocks,
                                         Index s, float* sums) {
  Index const step = g.width.stride * block_size, next = g.width.dilation * block_size,
              plane = g.positions() * block_size;
  WindowRanges<w> const ranges = tap_ranges<w>(g.width, s);
  Index const x_begin = g.width.at(ranges.begin, s) * block_size, dy_begin = ranges.begin * block_size;
  for (Index r = 0; r < g.height.filter; ++r, sums += h * w * lanes) {
    Vector sum[h][w] = {};
    Index const last = g.height.last(r);
    for (Index b = 0; b < blocks; ++b) {
      for (int part = 0; part < block_size; part += lanes) {
        for (Index i = g.height.first(r); i < last; ++i) {
          float const* at = x.data + b * x.step + x_begin + part + g.height.at(i, r) * g.width.in * block_size;
          float const* d = dy.data + b * dy.step + dy_begin + part + i * g.width.out * block_size;
          ranges.go(
              [&](auto first, auto end) COLDPRESS_INLINE_LAMBDA {
                constexpr int f = first, m = end - f;
                Vector of[h];
                COLDPRESS_UNROLL
                for (int k = 0; k < h; ++k) of[k] = load_once(d + k * plane);
                COLDPRESS_UNROLL
                for (int t = 0; t < m; ++t) {
                  Vector const v = load_once(at + (f + t) * next);
                  COLDPRESS_UNROLL
                  for (int k = 0; k < h; ++k) sum[k][f + t] = fma(of[k], v, sum[k][f + t]);
                }
              },
              [&]() COLDPRESS_INLINE_LAMBDA { at += step, d += block_size; });
        }
      }
    }
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) store(sums + n * lanes, sum[n % h][n / h]);
  }
}

/// The same without x: sums h planes of `size` values over blocks, into sums[output][lane].
template <int h>
__attribute__((noinline)) void sum_planes(Index size, BlockPlanes dy, Index blocks, float* sums) {
  constexpr int parts = block_size / lanes;
  Vector sum[h * parts] = {};
  for (Index b = 0; b < blocks; ++b) {
    float const* d = dy.data + b * dy.step;
    for (Index p = 0; p < size; ++p, d += block_size) {
      COLDPRESS_UNROLL
      for (int n = 0; n < h * parts; ++n) sum[n] += load(d + n / parts * size * block_size + n % parts * lanes);
    }
  }
  COLDPRESS_UNROLL
  for (int k = 0; k < h; ++k) {
    Vector total = sum[k * parts];
    COLDPRESS_UNROLL
    for (int n = 0; n < parts - 1; ++n) total += sum[k * parts + n + 1];
    store(sums + k * lanes, total);
  }
}

/// to[(r * width + tap) * pitch + output] += the sum of all lanes of vector [r][tap][output]. One tree of additions
/// reduces as many vectors as there are lanes.
template <class = void>
__attribute__((noinline)) void add_lanes(float const* values, Index rows, Index taps, Index outputs, float* to,
                                         Index pitch, Index width) {
  Index const count = rows * taps * outputs;
  Index output = 0, tap = 0;
  for (Index first = 0; first < count; first += lanes, values += lanes * lanes) {
    Vector v[lanes];
    COLDPRESS_UNROLL
    for (int i = 0; i < lanes; ++i) v[i] = first + i < count ? load(values + i * lanes) : Vector{};
    auto const halve = [&](auto half) COLDPRESS_INLINE_LAMBDA {
      constexpr int n = half;
      COLDPRESS_UNROLL
      for (int i = 0; i < n; ++i) v[i] = interleave<0>(v[i], v[i + n]) + interleave<1>(v[i], v[i + n]);
    };
    if constexpr (lanes >= 16) halve(Int<8>{});
    if constexpr (lanes >= 8) halve(Int<4>{});
    halve(Int<2>{}), halve(Int<1>{});
    float sums[lanes];
    store(sums, v[0]);
    for (Index i = 0; i < freestanding::min<Index>(lanes, count - first); ++i) {  // a division would cost more
      to[output] += sums[i];
      if (++output < outputs) continue;
      output = 0, to += pitch;
      if (++tap == taps) tap = 0, to += (width - taps) * pitch;
    }
  }
}

/// Puts weights {depth, outputs} into the order in which the tiles read them, for the forward or the backward pass.
template <class = void>
__attribute__((noinline)) void pack_weights(ConvolutionGeometry const& g, float const* weight, float* to) {
  Index const pitch = Layout::pitch(g.outputs), depth = g.terms();
  for (Index group = 0; group < g.groups; ++group, weight += g.group_outputs()) {
    split_at_run_time<block_outputs>(g.group_outputs(), [&](Index k, Index h) {
      for (Index d = 0; d < depth; ++d) {
        for (Index n = 0; n < h; ++n) *to++ = weight[d * pitch + k + n];
      }
    });
  }
}
template <class = void>
__attribute__((noinline)) void pack_weights_back(ConvolutionGeometry const& g, float const* weight, float* to) {
  Index const pitch = Layout::pitch(g.outputs), taps = g.taps(), outputs = g.group_outputs();
  for (Index group = 0; group < g.groups; ++group, weight += outputs) {
    split_at_run_time<block_outputs>(g.group_channels(), [&](Index c, Index h) {
      for_each_phase(g, [&](Phase const& rows, Phase const& columns, Index) {
        for (Index k = 0; k < outputs; ++k) {
          for (Index r = 0; r < rows.axis.filter; ++r) {
            for (Index s = 0; s < columns.axis.filter; ++s) {
              float const* const from = weight + (c * taps + rows.tap(r) * g.width.filter + columns.tap(s)) * pitch + k;
              for (Index n = 0; n < h; ++n) *to++ = from[n * taps * pitch];
            }
          }
        }
      });
    });
  }
}

/// Values [first, first + count) of block b: in place, or transposed into scratch.
COLDPRESS_INLINE float const* read_block(Rows<float const> x, Index b, Index first, Index count, float* scratch) {
  if (x.blocked) return x.row(b * block_size) + first * block_size;
  transpose<true>(block_size, count, x.row(b * block_size) + first, x.pitch, scratch, block_size);
  return scratch;
}
/// compute(to) writes values [first, first + count) of block b, in place or to scratch, from where they are transposed.
template <class Compute>
COLDPRESS_INLINE void write_block(Rows<float> y, Index b, Index first, Index count, float* scratch, Compute compute) {
  float* const to = y.blocked ? y.row(b * block_size) + first * block_size : scratch;
  compute(to);
  if (!y.blocked) transpose<true>(count, block_size, to, block_size, y.row(b * block_size) + first, y.pitch);
}

/// Block b of y, with packed weights. Y, here and below, may be PooledRows.
template <ImageKernels kernels, class Y>
__attribute__((noinline)) void convolve_block(ConvolutionGeometry const& g, Rows<float const> x, float const* packed,
                                              float const* bias, Y const& y, Index b, float* scratch) {
  Index const plane = g.positions() * block_size, in = g.height.in * g.width.in * block_size;
  BlockConvolution const of{g.group_channels(), g.height, g.width, plane, g.width.out * block_size, block_size};
  float const* from = read_block(x, b, 0, x.columns, scratch);
  scratch += g.in() * block_size;
  for (Index group = 0; group < g.groups; ++group, from += of.channels * in) {
    split_at_run_time<block_outputs>(g.group_outputs(), [&](Index n, Index h) {
      Index const k = group * g.group_outputs() + n;
      write_block(y, b, k * g.positions(), h * g.positions(), scratch, [&](float* to) COLDPRESS_INLINE_LAMBDA {
        convolve_columns<kernels.outputs>(h, of, from, packed, bias ? bias + k : nullptr, to);
      });
      packed += h * g.terms();
    });
  }
}
/// Block b of dx, with weights packed for the backward pass. If it `adds`, to what is there.
template <ImageKernels kernels, class DY>
__attribute__((noinline)) void convolve_block_back(ConvolutionGeometry const& g, DY const& dy, float const* packed,
                                                   Rows<float> dx, Index b, bool adds, float* scratch) {
  Index const size = g.height.in * g.width.in, width = g.width.in;
  float const* from = read_block(dy, b, 0, g.out(), scratch);
  scratch += g.out() * block_size;
  for (Index group = 0; group < g.groups; ++group, from += g.group_outputs() * g.positions() * block_size) {
    split_at_run_time<block_outputs>(g.group_channels(), [&](Index n, Index h) {
      Index const c = group * g.group_channels() + n;
      write_block(dx, b, c * size, h * size, scratch, [&](float* to) COLDPRESS_INLINE_LAMBDA {
        if (adds) read_block(dx, b, c * size, h * size, to);
        for_each_phase(g, [&](Phase const& rows, Phase const& columns, Index first) COLDPRESS_INLINE_LAMBDA {
          BlockConvolution const of{g.group_outputs(),
                                    rows.axis,
                                    columns.axis,
                                    size * block_size,
                                    g.height.stride * width * block_size,
                                    g.width.stride * block_size,
                                    adds};
          convolve_columns<kernels.channels>(h, of, from, packed, nullptr, to + first * block_size);
          packed += h * g.group_outputs() * rows.axis.filter * columns.axis.filter;
        });
      });
    });
  }
}

/// Splits a row of the filter into tiles of few different sizes, because each size is compiled separately. Calls
/// f(first, Int<size>).
template <ImageKernels kernels, class F>
COLDPRESS_INLINE void split_taps(Index width, F f) {
  Index s = 0;
  if constexpr (kernels.fives) {
    for (; s + 5 <= width; s += 5) f(s, Int<5>{});
  }
  if constexpr (kernels.threes) {
    for (; s + 3 <= width; s += 3) f(s, Int<3>{});
  }
  if constexpr (kernels.ones) {
    for (; s < width; ++s) f(s, Int<1>{});
  }
}

/// Values [from, from + size) of `count` blocks: in place, or copied to scratch.
template <class X>
COLDPRESS_INLINE BlockPlanes read_blocks(X const& x, Index first, Index count, Index from, Index size, float* scratch) {
  float const* const data = read_block(x, first, from, size, scratch);
  if (data != scratch) return {data, block_size * x.pitch};
  Index const step = size * block_size;
  for (Index b = 1; b < count; ++b) read_block(x, first + b, from, size, scratch + b * step);
  return {scratch, step};
}

/// Adds the gradient of the weights {depth, outputs} to `gradient`, and that of the biases to `biases` unless it is
/// null, for `blocks` blocks. Both are among the first `shared` floats of scratch.
template <ImageKernels kernels, class DY>
__attribute__((noinline)) void block_weight_gradient(Context const& context, ConvolutionGeometry const& g,
                                                     Rows<float const> x, DY const& dy, Index blocks, Index shared,
                                                     float* biases) {
  Index const pitch = Layout::pitch(g.outputs), in = g.height.in * g.width.in * block_size, width = g.width.filter;
  Index const at_once = Layout::blocks_at_once(g);  // whatever the layout, because it decides the order of sums
  float *const gradient = context.scratch, *const gathered = gradient + shared;
  shared += Layout::gathered(g, blocks);
  for (Index first = 0; first < blocks; first += at_once) {
    Index const count = freestanding::min(at_once, blocks - first);
    BlockPlanes of_x{x.row(first * block_size), block_size * x.pitch};
    if (!x.blocked) {
      of_x = {gathered, g.in() * block_size};
      context.each(count, 8 * of_x.step, [&](Index begin, Index end, int) {
        for (Index b = begin; b < end; ++b) read_block(x, first + b, 0, g.in(), gathered + b * of_x.step);
      });
    }
    // A work item is a part of the outputs and one channel of its group. The first in a range gathers the part's dy.
    Index const parts = parts_of(g.group_outputs(), block_rows), channels = g.group_channels(),
                tiles = g.groups * parts * channels;
    context.each_share(2, tiles, count * block_size * g.products() / tiles, [&](Index begin, Index end, int worker) {
      float *const sums = context.scratch_of(worker, shared), *const planes = sums + Layout::block_sums(g);
      BlockPlanes of_dy{};
      for (Index i = begin; i < end; ++i) {
        Index const group = i / (parts * channels), part = i / channels % parts, c = i % channels;
        split<block_rows>(
            OneOf<kernels.outputs>{g.group_outputs()},
            [&](Index n, auto h) COLDPRESS_INLINE_LAMBDA {
              Index const k = group * g.group_outputs() + n, size = g.positions();
              if (c == 0 || i == begin) of_dy = read_blocks(dy, first, count, k * size, h * size, planes);
              if (c == 0 && biases) {
                sum_planes<h>(size, of_dy, count, sums);
                add_lanes(sums, 1, 1, h, biases + k, 0, 1);
              }
              split_taps<kernels>(width, [&](Index s, auto w) COLDPRESS_INLINE_LAMBDA {
                correlate<h, w>(g, {of_x.data + (group * channels + c) * in, of_x.step}, of_dy, count, s, sums);
                float* const to = gradient + (c * g.taps() + s) * pitch + k;
                add_lanes(sums, g.height.filter, w, h, to, pitch, width);
              });
            },
            {part, part + 1});
      }
    });
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
