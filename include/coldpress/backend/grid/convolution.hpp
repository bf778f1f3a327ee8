// Convolutions as matrix products whose operands are looked up under the window: images are not copied.
#pragma once

#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

/// Rows and columns of inputs, with the padding, have 32 bits in a kernel. Throws ShapeError where the host plans it.
constexpr void check_rows([[maybe_unused]] VolumeGeometry const& g) {
#if !defined __CUDA_ARCH__
  for (Axis const* axis : {&g.depth, &g.height, &g.width})
    require(axis->in < Index{1} << 30 && axis->padding < Index{1} << 30 && axis->padding_after() < Index{1} << 30,
            "convolution: on a GPU, an axis and its padding must be below 2^30");
#endif
}
/// Calls f(g) with the type of a geometry that has a depth only where the samples are volumes. What follows is a
/// template of it, so that nothing is computed for the planes of other samples.
template <class G, class F>
constexpr void with_kind(G const& g, F const& f) {
  auto const volume = is_of<ConvolutionKind::volume>(g);
  if constexpr (std::is_same_v<decltype(volume), std::false_type const>) {
    f(static_cast<ConvolutionGeometry const&>(g));
  } else if constexpr (std::is_same_v<decltype(volume), std::true_type const>) {
    f(static_cast<VolumeGeometry const&>(g));
  } else {
    VolumeGeometry const& whole = g;
    ConvolutionGeometry const& plane = g;
    volume ? f(whole) : f(plane);
  }
}
template <class G>
constexpr bool has_depth = std::is_same_v<G, VolumeGeometry>;

/// One tap of a window, in one channel of a group.
struct Tap {
  Index channel, plane, row, column;
};
/// A place in the outputs or the inputs of all samples.
struct Place {
  Index sample, plane, row, column;
};
/// The depth of a geometry that may have none, which is then a constant.
constexpr Axis depth_of(ConvolutionGeometry const&) { return {}; }
constexpr Axis const& depth_of(VolumeGeometry const& g) { return g.depth; }
/// The number as {first, plane, row, column}, where there are as many planes, rows and columns as given.
template <class G, class Numbers>
constexpr Numbers numbers_of(Index number, Index depth, Index height, Index width) {
  Index const size = depth * height * width, within = remainder(number, size);
  if constexpr (has_depth<G>) {
    Index const line = quotient(within, width);
    return {quotient(number, size), quotient(line, height), remainder(line, height), remainder(within, width)};
  } else {
    return {quotient(number, size), 0, quotient(within, width), remainder(within, width)};
  }
}
template <class G>
constexpr Tap tap_of(G const& g, Index number) {
  return numbers_of<G, Tap>(number, depth_of(g).filter, g.height.filter, g.width.filter);
}
template <class G>
constexpr Place output_place(G const& g, Index number) {
  return numbers_of<G, Place>(number, depth_of(g).out, g.height.out, g.width.out);
}
template <class G>
constexpr Place input_place(G const& g, Index number) {
  return numbers_of<G, Place>(number, depth_of(g).in, g.height.in, g.width.in);
}
/// The offset of a value in a sample. Images have one plane per channel, volumes several, and sequences one row of
/// channels per step.
template <class G>
constexpr Index input_offset(G const& g, Index channel, Index plane, Index row, Index column) {
  if constexpr (has_depth<G>) channel = channel * g.depth.in + plane;
  return g.is_sequence() ? row * g.channels + channel : (channel * g.height.in + row) * g.width.in + column;
}
template <class G>
constexpr Index output_offset(G const& g, Index output, Index plane, Index row, Index column) {
  if constexpr (has_depth<G>) output = output * g.depth.out + plane;
  return g.is_sequence() ? row * g.outputs + output : (output * g.height.out + row) * g.width.out + column;
}

/// The filters of a group as a matrix with one row per output and one column per tap.
template <class G>
struct Filters {
  static constexpr bool along_k = true;
  G g;
  float const* weight;
  constexpr float value(Index group, Index output, Index tap) const {
    return weight[(group * g.group_outputs() + output) * g.terms() + tap];
  }
};
/// What the windows see: the value under a tap at an output place. Steps before a sequence come from `state`, or are
/// zeros.
template <class G>
struct Seen {
  static constexpr bool along_k = false;
  G g;
  float const* x;
  Index pitch;
  float const* state = nullptr;

 protected:
  /// A value of a sample's image.
  constexpr float at(float const* image, Index sample, Index channel, int plane, int row, int column) const {
    if (row < 0 && state) {
      RingBuffer<float const> const past{state + sample * RingBuffer<float>::size(g.past(), g.channels), g.past(),
                                         g.channels};
      return past.step(row)[channel];
    }
    bool inside = row >= 0 && row < g.height.in && column >= 0 && column < g.width.in;
    if constexpr (has_depth<G>) inside = inside && plane >= 0 && plane < g.depth.in;
    return inside ? image[input_offset(g, channel, plane, row, column)] : 0.0f;
  }
};
/// The same as the second operand of the forward pass.
template <class G>
struct SeenAcross : Seen<G> {
  using Seen<G>::g;
  struct Invariant {
    float const* image;
    Index32 sample, channel;
    int plane, row, column;  // of the input under the first tap
  };
  constexpr Invariant invariant(Index group, Index place) const {
    Place const to = output_place(g, place);
    return {this->x + to.sample * this->pitch,
            static_cast<Index32>(to.sample),
            static_cast<Index32>(group * g.group_channels()),
            static_cast<int>(depth_of(g).at(to.plane, 0)),
            static_cast<int>(g.height.at(to.row, 0)),
            static_cast<int>(g.width.at(to.column, 0))};
  }
  constexpr float value(Invariant const& from, Index number) const {
    Tap const tap = tap_of(g, number);
    return this->at(from.image, from.sample, from.channel + tap.channel,
                    from.plane + static_cast<int>(tap.plane * depth_of(g).dilation),
                    from.row + static_cast<int>(tap.row * g.height.dilation),
                    from.column + static_cast<int>(tap.column * g.width.dilation));
  }
};
/// The same as the second operand of the gradient of the filters.
template <class G>
struct SeenDown : Seen<G> {
  using Seen<G>::g;
  struct Invariant {
    Index32 channel;
    int plane, row, column;  // of the input under the tap, at the first place
  };
  constexpr Invariant invariant(Index group, Index number) const {
    Tap const tap = tap_of(g, number);
    return {static_cast<Index32>(group * g.group_channels() + tap.channel),
            static_cast<int>(depth_of(g).at(0, tap.plane)), static_cast<int>(g.height.at(0, tap.row)),
            static_cast<int>(g.width.at(0, tap.column))};
  }
  constexpr float value(Invariant const& under, Index place) const {
    Place const to = output_place(g, place);
    return this->at(this->x + to.sample * this->pitch, to.sample, under.channel,
                    under.plane + static_cast<int>(to.plane * depth_of(g).stride),
                    under.row + static_cast<int>(to.row * g.height.stride),
                    under.column + static_cast<int>(to.column * g.width.stride));
  }
};
/// The gradients of the outputs as a matrix with one row per output of a group and one column per place.
template <class G>
struct OutputGradients {
  static constexpr bool along_k = true;
  G g;
  float const* dy;
  Index pitch;
  constexpr float value(Index group, Index output, Index place) const {
    Index const size = g.positions(), sample = quotient(place, size), within = remainder(place, size),
                plane = group * g.group_outputs() + output;
    return dy[sample * pitch + (g.is_sequence() ? within * g.outputs + plane : plane * size + within)];
  }
};
/// The output whose first tap is on the input `shifted`, counted with the padding before it; negative if there is none.
constexpr int output_of(Axis const& axis, int shifted) {
  if (shifted < 0) return -1;
  int output = shifted;
  if (axis.stride != 1) {
    if (remainder(shifted, axis.stride) != 0) return -1;
    output = static_cast<int>(quotient(shifted, axis.stride));
  }
  return output < axis.out ? output : -1;
}
/// The output that reads input `at` through a tap; negative if there is none.
constexpr Index output_of(Axis const& axis, Index at, Index tap) {
  return output_of(axis, static_cast<int>(at + axis.padding - tap * axis.dilation));
}
/// The filters as an operand of the input gradient: one row per channel of a group, one column per tap of an output.
template <class G>
struct FiltersBack {
  static constexpr bool along_k = true;
  G g;
  float const* weight;
  constexpr float value(Index group, Index channel, Index term) const {
    Index const taps = g.taps(), output = group * g.group_outputs() + quotient(term, taps);
    return weight[(output * g.group_channels() + channel) * taps + remainder(term, taps)];
  }
};
/// The output gradients that reach each input of a channel through each tap of an output.
template <class G>
struct GradientsBack {
  static constexpr bool along_k = false;
  G g;
  float const* dy;
  Index pitch;

  struct Invariant {
    float const* gradients;  // of the sample and the group
    int plane, row, column;  // of the input, with the padding before it
  };
  constexpr Invariant invariant(Index group, Index place) const {
    Place const at = input_place(g, place);
    return {dy + at.sample * pitch + output_offset(g, group * g.group_outputs(), 0, 0, 0),
            static_cast<int>(at.plane + depth_of(g).padding), static_cast<int>(at.row + g.height.padding),
            static_cast<int>(at.column + g.width.padding)};
  }
  constexpr float value(Invariant const& to, Index term) const {
    Tap const tap = tap_of(g, term);  // its channel is an output here
    int plane = 0;
    if constexpr (has_depth<G>) plane = output_of(g.depth, to.plane - static_cast<int>(tap.plane * g.depth.dilation));
    int const row = output_of(g.height, to.row - static_cast<int>(tap.row * g.height.dilation)),
              column = output_of(g.width, to.column - static_cast<int>(tap.column * g.width.dilation));
    if constexpr (has_depth<G>) {
      if (plane < 0) return 0.0f;
    }
    return row < 0 || column < 0 ? 0.0f : to.gradients[output_offset(g, tap.channel, plane, row, column)];
  }
};

}  // namespace coldpress::grid
