// Convolutions of images as matrix products: panels of what the window sees, times the weights as they are stored.
#pragma once

#include <coldpress/backend/depthwise.hpp>
#include <coldpress/backend/depthwise_3x3.hpp>
#include <coldpress/backend/sequence_convolution.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Whether the values of images are multiplied where they are: what a single tap sees, if all parts consist of whole
/// vectors, and the rows do not share a set of the cache.
inline bool in_place(ConvolutionGeometry const& g, Panel const& panel) {
  Index const positions = g.positions(), whole = panel.width < g.width.out ? g.width.out : panel.positions();
  return g.sees_one() && panel.images == 1 && whole % lanes == 0 && positions % lanes == 0 && positions % 256 != 0;
}

template <ImageKernels kernels = ImageKernels{}>
void convolve_images(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y,
                     float* scratch) {
  if constexpr (kernels.depthwise_3x3) {
    if (DepthwisePlanes::skips_planes(g)) return convolve_depthwise_3x3(g, x, weight, bias, y, scratch);
  }
  if constexpr (kernels.depthwise) {
    if (DepthwisePlanes::suit(g)) return convolve_depthwise(g, x, weight, bias, y, scratch);
  }
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.output_pitch(), outputs = g.group_outputs(), positions = g.positions();
  bool const there = kernels.pointwise && in_place(g, memory.panel);
  for_each_part(g, memory.panel, x.rows, [&](Part const& part) {
    Taps const taps = Taps{g, memory.panel, part}.at(memory.inputs);
    bool const one = part.images == 1;
    for (Index group = 0; group < g.groups; ++group) {
      Channels sums{bias ? bias + group * outputs : nullptr,
                    one ? y.row(part.image) + group * outputs * positions + part.offset(g) : memory.outputs,
                    one ? positions : pitch, part.size()};
      for (Index c = 0; c < g.group_channels(); c += memory.panel.packed) {
        Index const count = freestanding::min(memory.panel.packed, g.group_channels() - c), depth = count * g.taps(),
                    channel = group * g.group_channels() + c, w_pitch = Layout::pitch(g.outputs);
        sums.first = c == 0, sums.last = c + count == g.group_channels();
        float const* const filters = weight + c * g.taps() * w_pitch + group * outputs;
        auto const products = [&](auto const& seen) COLDPRESS_INLINE_LAMBDA {
          auto const one_product = [&](Index rows, Filters const& of, Channels const& to) COLDPRESS_INLINE_LAMBDA {
            multiply(OneOf<kernels.outputs>{rows}, OneOf<kernels.positions>{part.size()}, depth, of, seen, to);
          };
          if (!kernels.packs_filters || !memory.panel.packs_filters(part.size()))
            return one_product(outputs, {filters, depth, w_pitch, sums.last ? 0 : depth * w_pitch}, sums);
          for (Index o = 0; o < outputs; o += memory.panel.filters) {
            Index const some = freestanding::min(memory.panel.filters, outputs - o);
            pack_filters(some, depth, filters + o, w_pitch, w_pitch - group * outputs - o, memory.rest);
            one_product(some, Filters::packed(memory.rest, depth), sums.from(o));
          }
        };
        if constexpr (kernels.pointwise) {
          if (there) {
            products(Right<float>{x.row(part.image) + channel * positions + part.offset(g), positions});
            continue;
          }
        }
        pack(g, part, x, channel, count, memory.panel, memory.inputs);
        products(taps);
      }
      if (!one) put_outputs(g, part, memory.outputs, pitch, y, group);
    }
  });
}

/// Adds the input gradient to dx.
template <ImageKernels kernels = ImageKernels{}>
void image_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, Out dx, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Index const pitch = memory.panel.output_pitch(), outputs = g.group_outputs(), channels = g.group_channels(),
              positions = g.positions(), w_pitch = Layout::pitch(g.outputs);
  bool const there = kernels.pointwise && in_place(g, memory.panel);
  for_each_part(g, memory.panel, dy.rows, [&](Part const& part) {
    OneOf<kernels.gradient_positions> const columns{part.size()};
    for (Index group = 0; group < g.groups; ++group) {
      Right<float> gradients{memory.outputs, pitch};
      if (there) {
        gradients = {dy.row(part.image) + group * outputs * positions + part.offset(g), positions};
      } else {
        take_outputs(g, part, dy, group, memory.outputs, pitch);
      }
      if constexpr (kernels.pointwise) {
        if (g.sees_one() && part.images == 1) {  // each value of dx has one tap
          float* const to = dx.row(part.image) + group * channels * positions + part.offset(g);
          multiply(OneOf<kernels.channels>{channels}, columns, outputs, Left{weight + group * outputs, w_pitch, 1},
                   gradients, Added{to, positions, part.size()});
          continue;
        }
      }
      for (Index c = 0; c < channels; c += memory.panel.channels) {  // while the outputs are in the cache
        Index const count = freestanding::min(memory.panel.channels, channels - c);
        Left const rows{weight + c * g.taps() * w_pitch + group * outputs, w_pitch, 1};
        multiply(OneOf<kernels.lines>{count * g.taps()}, columns, outputs, rows, gradients,
                 StoredGradient{{memory.inputs}, pitch});
        unpack(g, part, memory.inputs, pitch, dx, group * channels + c, count);
      }
    }
  });
}

/// Fills each plane of all rows with its bias, or with zero if `bias` is null, and zeroes what follows the last.
template <class = void>
void fill_planes(Index planes, float const* bias, Out y) {
  Index const size = y.columns / planes;
  for (Index i = 0; i < y.rows; ++i) {
    for (Index k = 0; k < planes; ++k) freestanding::fill_n(y.row(i) + k * size, size, bias ? bias[k] : 0.f);
  }
  zero_from(y.columns, y);
}
/// Fills each step of all rows with the biases, or with zeros if `bias` is null, and zeroes what follows the last.
template <class = void>
void fill_steps(Index channels, float const* bias, Out y) {
  for (Index i = 0; i < y.rows; ++i) {
    for (Index at = 0; at < y.columns; at += channels) {
      for (Index k = 0; k < channels; ++k) y.row(i)[at + k] = bias ? bias[k] : 0.f;
    }
  }
  zero_from(y.columns, y);
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
