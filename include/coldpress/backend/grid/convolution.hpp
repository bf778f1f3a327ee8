// Convolutions as matrix products whose operands are looked up under the window: images are not copied.
#pragma once

#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

/// Rows and columns of inputs, with the padding, have 32 bits in a kernel. Throws ShapeError where the host plans it.
constexpr void check_rows([[maybe_unused]] ConvolutionGeometry const& g) {
#if !defined __CUDA_ARCH__
  for (Axis const* axis : {&g.height, &g.width})
    require(axis->in < Index{1} << 30 && axis->padding < Index{1} << 30 && axis->padding_after() < Index{1} << 30,
            "convolution: on a GPU, an axis and its padding must be below 2^30");
#endif
}
/// One tap of a window, in one channel of a group.
struct Tap {
  Index channel, row, column;
};
constexpr Tap tap_of(ConvolutionGeometry const& g, Index number) {
  Index const taps = g.taps(), within = remainder(number, taps);
  return {quotient(number, taps), quotient(within, g.width.filter), remainder(within, g.width.filter)};
}
/// A place in the outputs or the inputs of all samples.
struct Place {
  Index sample, row, column;
};
constexpr Place place_of(Index number, Index height, Index width) {
  Index const size = height * width, within = remainder(number, size);
  return {quotient(number, size), quotient(within, width), remainder(within, width)};
}
/// The offset of a value in a sample. Images have one plane per channel, sequences have one row of channels per step.
constexpr Index offset_of(ConvolutionGeometry const& g, Index channels, Index height, Index width, Index channel,
                          Index row, Index column) {
  return g.sequence ? row * channels + channel : (channel * height + row) * width + column;
}
constexpr Index input_offset(ConvolutionGeometry const& g, Index channel, Index row, Index column) {
  return offset_of(g, g.channels, g.height.in, g.width.in, channel, row, column);
}
constexpr Index output_offset(ConvolutionGeometry const& g, Index output, Index row, Index column) {
  return offset_of(g, g.outputs, g.height.out, g.width.out, output, row, column);
}

/// The filters of a group as a matrix with one row per output and one column per tap.
struct Filters {
  static constexpr bool along_k = true;
  ConvolutionGeometry g;
  float const* weight;
  constexpr float value(Index group, Index output, Index tap) const {
    return weight[(group * g.group_outputs() + output) * g.depth() + tap];
  }
};
/// What the windows see: the value under a tap at an output place. Steps before a sequence come from `state`, or are
/// zeros.
struct Seen {
  static constexpr bool along_k = false;
  ConvolutionGeometry g;
  float const* x;
  Index pitch;
  float const* state = nullptr;

 protected:
  /// A value of a sample's image.
  constexpr float at(float const* image, Index sample, Index channel, int row, int column) const {
    if (row < 0 && state) {
      RingBuffer<float const> const past{state + sample * RingBuffer<float>::size(g.past(), g.channels), g.past(),
                                         g.channels};
      return past.step(row)[channel];
    }
    bool const inside = row >= 0 && row < g.height.in && column >= 0 && column < g.width.in;
    return inside ? image[input_offset(g, channel, row, column)] : 0.0f;
  }
};
/// The same as the second operand of the forward pass.
struct SeenAcross : Seen {
  struct Invariant {
    float const* image;
    Index32 sample, channel;
    int row, column;  // of the input under the first tap
  };
  constexpr Invariant invariant(Index group, Index place) const {
    Place const to = place_of(place, g.height.out, g.width.out);
    return {x + to.sample * pitch, static_cast<Index32>(to.sample), static_cast<Index32>(group * g.group_channels()),
            static_cast<int>(g.height.at(to.row, 0)), static_cast<int>(g.width.at(to.column, 0))};
  }
  constexpr float value(Invariant const& from, Index number) const {
    Tap const tap = tap_of(g, number);
    return at(from.image, from.sample, from.channel + tap.channel,
              from.row + static_cast<int>(tap.row * g.height.dilation),
              from.column + static_cast<int>(tap.column * g.width.dilation));
  }
};
/// The same as the second operand of the gradient of the filters.
struct SeenDown : Seen {
  struct Invariant {
    Index32 channel;
    int row, column;  // of the input under the tap, at the first place
  };
  constexpr Invariant invariant(Index group, Index number) const {
    Tap const tap = tap_of(g, number);
    return {static_cast<Index32>(group * g.group_channels() + tap.channel), static_cast<int>(g.height.at(0, tap.row)),
            static_cast<int>(g.width.at(0, tap.column))};
  }
  constexpr float value(Invariant const& under, Index place) const {
    Place const to = place_of(place, g.height.out, g.width.out);
    return at(x + to.sample * pitch, to.sample, under.channel, under.row + static_cast<int>(to.row * g.height.stride),
              under.column + static_cast<int>(to.column * g.width.stride));
  }
};
/// The gradients of the outputs as a matrix with one row per output of a group and one column per place.
struct OutputGradients {
  static constexpr bool along_k = true;
  ConvolutionGeometry g;
  float const* dy;
  Index pitch;
  constexpr float value(Index group, Index output, Index place) const {
    Index const size = g.positions(), sample = quotient(place, size), within = remainder(place, size),
                plane = group * g.group_outputs() + output;
    return dy[sample * pitch + (g.sequence ? within * g.outputs + plane : plane * size + within)];
  }
};
/// The filters as an operand of the input gradient: one row per channel of a group, one column per tap of an output.
struct FiltersBack {
  static constexpr bool along_k = true;
  ConvolutionGeometry g;
  float const* weight;
  constexpr float value(Index group, Index channel, Index term) const {
    Index const taps = g.taps(), output = group * g.group_outputs() + quotient(term, taps);
    return weight[(output * g.group_channels() + channel) * taps + remainder(term, taps)];
  }
};
/// The output gradients that reach each input of a channel through each tap of an output.
struct GradientsBack {
  static constexpr bool along_k = false;
  ConvolutionGeometry g;
  float const* dy;
  Index pitch;

  /// The output that reads input `at` through a tap; negative if there is none.
  static constexpr Index output(Axis const& axis, Index at, Index tap) {
    return output_of(axis, static_cast<int>(at + axis.padding - tap * axis.dilation));
  }
  struct Invariant {
    float const* gradients;  // of the sample and the group
    int row, column;         // of the input, with the padding before it
  };
  constexpr Invariant invariant(Index group, Index place) const {
    Place const at = place_of(place, g.height.in, g.width.in);
    return {dy + at.sample * pitch + output_offset(g, group * g.group_outputs(), 0, 0),
            static_cast<int>(at.row + g.height.padding), static_cast<int>(at.column + g.width.padding)};
  }
  constexpr float value(Invariant const& to, Index term) const {
    Tap const tap = tap_of(g, term);  // its channel is an output here
    int const row = output_of(g.height, to.row - static_cast<int>(tap.row * g.height.dilation)),
              column = output_of(g.width, to.column - static_cast<int>(tap.column * g.width.dilation));
    return row < 0 || column < 0 ? 0.0f : to.gradients[output_offset(g, tap.channel, row, column)];
  }

 private:
  static constexpr int output_of(Axis const& axis, int shifted) {
    if (shifted < 0) return -1;
    int output = shifted;
    if (axis.stride != 1) {
      if (remainder(shifted, axis.stride) != 0) return -1;
      output = static_cast<int>(quotient(shifted, axis.stride));
    }
    return output < axis.out ? output : -1;
  }
};

}  // namespace coldpress::grid
