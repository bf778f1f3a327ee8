// Where the CPU backend puts numbers: the same for every instruction set, so that a network's memory does not depend on
// it.
#pragma once

#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/parameter.hpp>

namespace coldpress::cpu {

struct Layout {
  using Scalar = float;
  static constexpr Index alignment = 16;  // floats: one cache line

  /// Distance of rows of n values: whole cache lines, and no multiple of 1 KiB, since such rows share L1 sets.
  static constexpr Index pitch(Index n) {
    n = (n + 15) / 16 * 16;
    return n % 256 == 0 ? n + 16 : n;
  }
  static constexpr Index cells(Index n) { return (n + 15) / 16 * 16; }

  /// Floats that a parameter takes. Where it has more than one axis it is kept as a matrix, {all others, first} with
  /// padded rows: {in, out}. The taps of a sequence, {out, channels, steps}, are kept as {steps, channels, out}, as the
  /// sequence itself is; groups of them are read by whole vectors, beyond the last row.
  static constexpr Index storage_size(Parameter const& parameter) {
    Shape const& shape = parameter.shape;
    int const rank = shape.rank();
    return rank < 2 ? cells(shape.size()) : shape.size() / shape[0] * pitch(shape[0]) + (rank == 3 ? 16 : 0);
  }
  /// Offset in the storage of the canonical element.
  static constexpr Index offset(Parameter const& parameter, Index element) {
    Shape const& shape = parameter.shape;
    if (shape.rank() < 2) return element;
    Index const depth = shape.size() / shape[0], d = element % depth;
    Index const row = shape.rank() == 3 ? d % shape[2] * shape[1] + d / shape[2] : d;
    return row * pitch(shape[0]) + element / depth;
  }

  /// Floats of scratch that product() needs: the matrix is transposed there.
  static constexpr Index product_scratch(Index in, Index out) { return out * pitch(in); }

  /// Floats of scratch that a convolution and a pooling need.
  static constexpr Index convolution_scratch(ConvolutionGeometry const& g, Extent extent);
  static constexpr Index pooling_scratch(PoolingGeometry const& g);
};

/// How a convolution is cut into products. A panel holds what the window sees at a block of positions: some rows of an
/// image, a part of a row, or several small images; or some steps of a sequence. It is small enough for the cache.
struct Panel {
  static constexpr Index slack = 16;  // floats around it, where whole vectors may stray
  bool sequence;
  Index images, rows, width;  // of the output
  Index depth, outputs;       // of a group

  constexpr explicit Panel(ConvolutionGeometry const& g)
      : sequence(g.sequence), images(1), rows(g.height.out), width(g.width.out), depth(g.depth()),
        outputs(g.group_outputs()) {
    Index const most = std::clamp<Index>((Index{1} << 16) / depth / 64 * 64, 64, 4096);
    if (sequence) {
      images = 1;
      rows = rows == 1 ? 32 : std::min<Index>(rows, std::min<Index>(most, 128));  // single steps: of so many samples
    } else if (g.positions() < 128) {
      images = std::max<Index>(1, std::min<Index>(most, 256) / g.positions());
    } else if (width > most) {
      rows = 1, width = most;
    } else {
      Index const parts = (rows * width + most - 1) / most;
      rows = (rows + parts - 1) / parts;
    }
  }
  /// Positions of a whole panel, and the floats from one of its rows to the next: {depth, positions}, but for a
  /// sequence {positions, depth}. The outputs there are {outputs, positions}, for a sequence {positions, outputs}.
  constexpr Index positions() const { return images * rows * width; }
  constexpr Index pitch() const { return Layout::pitch(sequence ? depth : positions()); }
  constexpr Index output_pitch() const { return Layout::pitch(sequence ? outputs : positions()); }
  constexpr Index size() const { return (sequence ? rows : depth) * pitch(); }
  constexpr Index output_size() const { return (sequence ? rows : outputs) * output_pitch(); }
};

constexpr Index Layout::convolution_scratch(ConvolutionGeometry const& g, Extent extent) {
  Panel const panel{g};
  Index const gradient = extent.training ? panel.depth * pitch(g.outputs) : 0,
              weights = g.sequence && extent.input_gradient ? panel.outputs * panel.pitch() : 0,
              outputs = g.sequence ? 1 : extent.training ? panel.positions() : 0;
  return 3 * Panel::slack + panel.size() + panel.output_size() +
         std::max(weights, gradient + outputs * pitch(panel.outputs));
}

/// One plane of a pooling, its rows cut into phases: values at the same place modulo the stride lie side by side, so
/// that a tap at neighbouring outputs is one vector. Phases are as wide as the taps reach.
struct Phases {
  Index phase, row, plane;  // floats from one to the next

  constexpr explicit Phases(PoolingGeometry const& g)
      : phase(Layout::cells(g.width.out + (g.width.filter - 1) / g.width.stride + 1) + 16),
        row(std::min(g.width.stride, g.width.filter) * phase),
        plane(g.height.in * row) {}
};

constexpr Index Layout::pooling_scratch(PoolingGeometry const& g) { return g.depth.in * Phases{g}.plane; }

}  // namespace coldpress::cpu
