// The parts into which the CPU backend divides a convolution so that their memory stays in the cache.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::cpu {

/// How a convolution is divided into matrix products. A panel holds what the window sees at a range of positions: some
/// rows of an image, part of a row, several small images, or some steps of a sequence. It is small enough for the
/// cache.
///
/// The taps of an image that differ only in height see the same rows. With a vertical stride of 1 they share them: the
/// panel then has one row per channel and horizontal tap, and a vertical tap is an offset in it.
///
/// A `backward` panel is that of an input gradient, and so of the forward pass of a transposed convolution.
struct Panel {
  static constexpr Index slack = 16;  // floats on either side, for whole vectors that exceed it
  /// Sums of more terms are computed some channels at a time. So many rows of 64 columns, 18 KB, stay in the L1 cache.
  static constexpr Index most_depth = 320, most_lines = 72;
  /// Filters are packed if they exceed the L1 cache and more than `few_positions` are multiplied with them: the packed
  /// ones of some outputs, which stay in the L2 cache.
  static constexpr Index few_weights = 1 << 13, most_weights = 1 << 15, few_positions = 128;
  /// Those of sequences of at least `few_steps` steps are packed as a whole, unless that would take too much memory.
  static constexpr Index few_steps = 16, most_step_weights = 1 << 18;
  /// The largest number of steps that are computed at once.
  static constexpr Index most_steps = 64;
  bool sequence, shared;
  bool direct;                // whether the outputs are written where they belong
  Index images, rows, width;  // of the output
  Index more;                 // additional rows that the window sees, where rows are shared
  Index depth, outputs;       // of a group
  Index packed;               // number of a group's channels that are packed at once: their products stay in the cache
  Index lines;                // rows of the panel
  Index filters;              // number of outputs whose filters are packed at once, for these channels, or 0
  Index channels;             // of a group, whose input gradients are computed at once

  constexpr explicit Panel(ConvolutionGeometry const& g, bool backward = false)
      : sequence(g.is_sequence()),
        shared(false),
        direct(false),
        images(1),
        rows(g.height.out),
        width(g.width.out),
        more(0),
        depth(g.terms()),
        outputs(g.group_outputs()),
        packed(g.group_channels()),
        lines(depth),
        filters(0),
        channels(1) {
    Index const positions = g.positions(), whole = padded_size(positions);
    bool const several = positions < 128 && whole - positions > positions / 8;  // one alone would waste lanes
    if (!sequence && !several && g.height.stride == 1) {
      shared = true;
      more = (g.height.filter - 1) * g.height.dilation;
      lines = depth / g.height.filter;
    }
    if (!sequence && !backward && depth > most_depth) {
      Index const each = lines / packed;  // of a channel
      packed = freestanding::within<Index>(most_lines / each, 1, packed);
      lines = packed * each;
    }
    if (sequence) {
      rows = steps_at_once(rows);
      lines = rows;
      Index const all = g.groups * padded_size(outputs), weights = all * depth;
      if (rows >= few_steps && weights > few_weights && weights <= most_step_weights) filters = all;
      return;
    }
    Index const most = freestanding::within<Index>((Index{1} << 16) / lines / 64 * 64, 64, 4096);
    if (several) {
      images = freestanding::max<Index>(1, freestanding::min<Index>(most, 256) / positions);
    } else if (width > most) {
      rows = 1, width = most;
    } else {
      Index const parts = (positions + most - 1) / most;
      rows = (rows + parts - 1) / parts;
    }
    direct = !backward && images == 1;
    channels = freestanding::within<Index>(4096 / (g.taps() * output_pitch()), 1, g.group_channels());
    Index const terms = packed * g.taps();
    if (!backward && Panel::positions() > few_positions && terms * padded_pitch(g.outputs) > few_weights) {
      Index const parts = (outputs * terms + most_weights - 1) / most_weights;
      filters = ((outputs + parts - 1) / parts + 5) / 6 * 6;  // whole tiles of 6
    }
  }
  /// The number of positions of a whole panel, and the distance between its rows in floats. A panel is {lines,
  /// positions}, and {positions, depth} for a sequence. Its outputs are {outputs, positions}, and {positions, outputs}
  /// for a sequence.
  constexpr Index positions() const { return images * rows * width; }
  constexpr Index pitch() const { return padded_pitch(sequence ? depth : images * (rows + more) * width); }
  constexpr Index output_pitch() const { return padded_pitch(sequence ? outputs : positions()); }
  /// How many of a sequence's steps are computed at once. For single steps: how many samples.
  static constexpr Index steps_at_once(Index steps) { return steps == 1 ? 32 : freestanding::min(steps, most_steps); }
  /// The distance between the rows of what the taps of a sequence see in the gradient of the outputs.
  constexpr Index back_pitch(Index taps) const { return padded_pitch(taps * outputs); }
  constexpr Index size() const { return lines * pitch(); }
  constexpr bool packs_filters(Index positions) const { return filters > 0 && positions > few_positions; }
  constexpr Index filters_size(ConvolutionGeometry const& g) const { return filters * packed * g.taps(); }
  constexpr Index output_size() const { return direct ? 0 : (sequence ? rows : outputs) * output_pitch(); }
  /// The floats of the panel that the input gradient uses: one row for every tap of some channels or, for a sequence,
  /// for every step of the input.
  constexpr Index gradient_size(ConvolutionGeometry const& g) const {
    return sequence ? steps_at_once(g.height.in) * back_pitch(g.taps()) : channels * g.taps() * output_pitch();
  }
};

/// The memory of a depthwise convolution of an image: the planes of one channel (depthwise.hpp), and sums for all
/// positions of the output and the columns between its rows; or a row of zeros (depthwise_3x3.hpp).
struct DepthwisePlanes {
  static constexpr Index most_taps = 64;
  static constexpr Index slack = 16 * 9;  // for whole vectors beyond the last plane
  Index rows, pitch;                      // of a plane
  Index count;                            // of planes

  constexpr explicit DepthwisePlanes(ConvolutionGeometry const& g)
      : rows(extent(g.height)), pitch(extent(g.width)), count(g.height.stride * g.width.stride) {}
  /// Whether the planes suit a convolution. They do not if a channel has many outputs, because a matrix product reads
  /// each of its values only once, nor if the planes would be mostly padding or values that are skipped.
  static constexpr bool suit(ConvolutionGeometry const& g) {
    if (g.is_sequence() || g.group_channels() > 1 || g.group_outputs() > 4 || g.taps() == 1 || g.taps() > most_taps)
      return false;
    DepthwisePlanes const planes{g};
    Index const most = 4 * (g.height.in * g.width.in + g.positions()) + 4096;
    return planes.count <= most && planes.rows <= most / planes.count &&
           planes.pitch <= most / planes.count / planes.rows;
  }
  /// Whether there are no planes, because the image is read where it is.
  static constexpr bool skips_planes(ConvolutionGeometry const& g) {
    auto const suits = [](Axis const& axis) { return axis.filter == 3 && axis.dilation == 1; };
    return suit(g) && suits(g.height) && suits(g.width) && g.height.stride == g.width.stride && g.width.stride <= 2;
  }
  /// The floats of all planes, and of the sums for an output.
  constexpr Index inputs() const { return padded_size(count * rows * pitch) + slack; }
  constexpr Index outputs() const { return rows * pitch; }
  constexpr Index size() const { return inputs() + padded_size(outputs()) + slack; }
  /// The floats that a convolution takes.
  static constexpr Index scratch(ConvolutionGeometry const& g) {
    return skips_planes(g) ? padded_size(g.width.in) : DepthwisePlanes{g}.size();
  }

 private:
  static constexpr Index extent(Axis const& axis) { return axis.out + (axis.filter - 1) * axis.dilation / axis.stride; }
};

/// The planes of a volume that are convolved together, each as an image, and the scratch that this needs.
struct VolumePlanes {
  ConvolutionGeometry g;  // of_planes() or of_tap()
  Index images;           // at once: as many as share a panel

  constexpr explicit VolumePlanes(ConvolutionGeometry const& of, bool backward = false)
      : g(of), images(Panel{of, backward}.images) {}
  /// The floats between the inputs, and between the outputs, of two images.
  constexpr Index in() const { return padded_pitch(g.in()); }
  constexpr Index out() const { return padded_pitch(g.out()); }
  constexpr Index size() const { return images * (in() + out()); }
};

}  // namespace coldpress::cpu
