// Convolutions as products of matrices whose values are looked up where the window is: no copy of an image is made.
#pragma once

#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

/// One tap of a window, of one channel of a group.
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
/// Where a value of a sample is: images have a plane a channel, sequences a row of channels a step.
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

/// The filters of a group: a row an output, a column a tap.
struct Filters {
  static constexpr bool along_k = true;
  ConvolutionGeometry const& g;
  float const* weight;
  constexpr float value(Index group, Index output, Index tap) const {
    return weight[(group * g.group_outputs() + output) * g.depth() + tap];
  }
};
/// What the windows see: of tap t at output place o. Steps before a sequence are in `past`, or zeros.
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
      Past<float const> const past{state + to.sample * Past<float>::size(g.past(), g.channels), g.past(), g.channels};
      return past.step(row)[channel];
    }
    bool const inside = row >= 0 && row < g.height.in && column >= 0 && column < g.width.in;
    return inside ? x[to.sample * pitch + input_offset(g, channel, row, column)] : 0.0f;
  }
};
/// The same as the second operand of a forward pass, and of the gradient of the filters.
struct SeenAcross : Seen {
  static constexpr bool along_k = false;
  constexpr float value(Index group, Index tap, Index place) const { return at(group, tap, place); }
};
struct SeenDown : Seen {
  static constexpr bool along_k = false;
  constexpr float value(Index group, Index place, Index tap) const { return at(group, tap, place); }
};
/// Gradients of the outputs: a row an output of a group, a column a place.
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
/// The filters as what takes gradients back: a row a channel of a group, a column a tap of an output.
struct FiltersBack {
  static constexpr bool along_k = true;
  ConvolutionGeometry const& g;
  float const* weight;
  constexpr float value(Index group, Index channel, Index term) const {
    Index const taps = g.taps(), output = group * g.group_outputs() + quotient(term, taps);
    return weight[(output * g.group_channels() + channel) * taps + remainder(term, taps)];
  }
};
/// The outputs' gradients that an input gets through a tap of an output, of all inputs of a channel.
struct GradientsBack {
  static constexpr bool along_k = false;
  ConvolutionGeometry const& g;
  float const* dy;
  Index pitch;

  /// The output that reads input `at` through a tap; negative where none does.
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
