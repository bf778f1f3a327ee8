// Convolutions as matrix products whose operands are looked up under the window: images are not copied.
#pragma once

#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

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
  ConvolutionGeometry const& g;
  float const* weight;
  constexpr float value(Index group, Index output, Index tap) const {
    return weight[(group * g.group_outputs() + output) * g.depth() + tap];
  }
};
/// What the windows see: the value under tap t at output place o. Steps before a sequence come from `state`, or are
/// zeros.
struct Seen {
  ConvolutionGeometry const& g;
  float const* x;
  Index pitch;
  float const* state = nullptr;

  constexpr float at(Index group, Index t, Index o) const {
    Tap const tap = tap_of(g, t);
    Place const to = place_of(o, g.height.out, g.width.out);
    Index const row = g.height.at(to.row, tap.row), column = g.width.at(to.column, tap.column),
                channel = group * g.group_channels() + tap.channel;
    if (row < 0 && state) {
      RingBuffer<float const> const past{state + to.sample * RingBuffer<float>::size(g.past(), g.channels), g.past(),
                                         g.channels};
      return past.step(row)[channel];
    }
    bool const inside = row >= 0 && row < g.height.in && column >= 0 && column < g.width.in;
    return inside ? x[to.sample * pitch + input_offset(g, channel, row, column)] : 0.0f;
  }
};
/// The same as the second operand of the forward pass, and of the gradient of the filters.
struct SeenAcross : Seen {
  static constexpr bool along_k = false;
  constexpr float value(Index group, Index tap, Index place) const { return at(group, tap, place); }
};
struct SeenDown : Seen {
  static constexpr bool along_k = false;
  constexpr float value(Index group, Index place, Index tap) const { return at(group, tap, place); }
};
/// The gradients of the outputs as a matrix with one row per output of a group and one column per place.
struct OutputGradients {
  static constexpr bool along_k = true;
  ConvolutionGeometry const& g;
  float const* dy;
  Index pitch;
  constexpr float value(Index group, Index output, Index place) const {
    Place const at = place_of(place, g.height.out, g.width.out);
    return dy[at.sample * pitch + output_offset(g, group * g.group_outputs() + output, at.row, at.column)];
  }
};
/// The filters as an operand of the input gradient: one row per channel of a group, one column per tap of an output.
struct FiltersBack {
  static constexpr bool along_k = true;
  ConvolutionGeometry const& g;
  float const* weight;
  constexpr float value(Index group, Index channel, Index term) const {
    Index const taps = g.taps(), output = group * g.group_outputs() + quotient(term, taps);
    return weight[(output * g.group_channels() + channel) * taps + remainder(term, taps)];
  }
};
/// The output gradients that reach each input of a channel through each tap of an output.
struct GradientsBack {
  static constexpr bool along_k = false;
  ConvolutionGeometry const& g;
  float const* dy;
  Index pitch;

  /// The output that reads input `at` through a tap; negative if there is none.
  static constexpr Index output(Axis const& axis, Index at, Index tap) {
    Index const shifted = at + axis.padding - tap * axis.dilation;
    if (shifted < 0 || remainder(shifted, axis.stride) != 0) return -1;
    Index const output = quotient(shifted, axis.stride);
    return output < axis.out ? output : -1;
  }
  constexpr float value(Index group, Index term, Index place) const {
    Tap const tap = tap_of(g, term);  // its channel is an output here
    Place const at = place_of(place, g.height.in, g.width.in);
    Index const row = output(g.height, at.row, tap.row), column = output(g.width, at.column, tap.column);
    if (row < 0 || column < 0) return 0;
    return dy[at.sample * pitch + output_offset(g, group * g.group_outputs() + tap.channel, row, column)];
  }
};

}  // namespace coldpress::grid
