// The weight gradient of a convolution of sequences.
#pragma once

// It is the product of what the taps see, transposed, with dy, some steps at a time.

#include <coldpress/backend/sequence_convolution.hpp>
#include <coldpress/backend/work_partition.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Adds to `to` the product of one row with a matrix {depth, columns}: term(sum, values, k) adds to a vector of sums
/// the term of row k of the matrix. Several sums run side by side, since each would wait for its last term.
template <class F>
COLDPRESS_INLINE void add_row_product(Index columns, Index depth, F term, float const* matrix, Index pitch, float* to) {
  constexpr int chains = 4;
  for (Index c = 0; c < columns; c += lanes) {
    Vector sum[chains] = {};
    Index k = 0;
    for (; k + chains <= depth; k += chains) {
      COLDPRESS_UNROLL
      for (int i = 0; i < chains; ++i) sum[i] = term(sum[i], load(matrix + (k + i) * pitch + c), k + i);
    }
    for (; k < depth; ++k) sum[0] = term(sum[0], load(matrix + k * pitch + c), k);
    store_row(to + c, load_row(to + c, columns - c) + ((sum[0] + sum[1]) + (sum[2] + sum[3])), columns - c);
  }
}

/// The tiles of the gradient of W: below one another those of all taps, beside one another the panels of all groups.
template <class Channels, class Outputs>
COLDPRESS_INLINE Strips gradient_tiles(ConvolutionGeometry const& g, Channels channels, Outputs outputs) {
  Index const tiles = g.height.filter * tiles_of<Left>(channels, outputs);
  return {tiles, g.groups * WorkPartition::panels_of(outputs), tiles};
}
/// The steps that are added at once where x is read in place: so many that the values of x and dy, 128 KB, stay in an
/// L2 cache while the tiles are computed.
inline Index gradient_steps(ConvolutionGeometry const& g) {
  Index const most = (1 << 15) / (g.channels + g.outputs) / Panel::most_steps;
  return freestanding::max<Index>(most, 1) * Panel::most_steps;
}
/// Adds tiles [first, last) of the gradient of W and, with the first tile of a panel, the gradients of its biases,
/// unless `biases` is null. A part of dy is read where it is, unless whole vectors would extend beyond the end of dy.
template <SequenceKernels kernels>
__attribute__((noinline)) void add_gradient_tiles(ConvolutionGeometry const& g, In x, In dy, float* gradient,
                                                  float* biases, Index first, Index last, float* scratch) {
  PanelMemory const memory{g, scratch};
  Axis const& steps_of = g.height;
  OneOf<kernels.outputs> const outputs{g.group_outputs()};
  OneOf<kernels.terms> const channels{g.group_channels()};
  Index const pitch = memory.panel.pitch(), own = memory.panel.output_pitch(), to_pitch = Layout::pitch(g.outputs),
              panels = WorkPartition::panels_of(outputs), of_tap = tiles_of<Left>(channels, outputs);
  Strips const strips = gradient_tiles(g, channels, outputs);
  float const* const end_of_dy = dy.row(dy.rows - 1) + dy.columns;
  auto const add = [&](Steps const& steps) COLDPRESS_INLINE_LAMBDA {
    In const rows = steps.of(dy, g.outputs);
    bool const in_place = sees_all(g, steps);
    float const* const last_vectors = rows.row(steps.rows - 1) + g.outputs - outputs;  // of the last group
    bool const copies = last_vectors + vectors(outputs) * lanes > end_of_dy;
    Right<float> from{nullptr, 0};
    for (Index tile = first, group = -1; tile < last;) {
      Strips::Part const part = strips.next(tile, last);
      if (part.panel / panels != group) {
        group = part.panel / panels;
        from = {rows.data + group * outputs, rows.pitch};
        if (copies) {
          for (Index i = 0; i < steps.rows; ++i)
            copy_over(memory.outputs + i * own, from.data + i * from.pitch, outputs);
          from = {memory.outputs, own};
        }
        if (!in_place)
          pack_steps<false>(steps, steps_of.filter, x, g.channels, channels, group, memory.inputs, pitch, seen(g));
      }
      Index const panel = part.panel % panels, all = vectors(outputs),
                  column = start_of(panel, all, tile_columns) * lanes,
                  end = freestanding::min<Index>(start_of(panel + 1, all, tile_columns) * lanes, outputs);
      auto const add_to_row = [&](float* to, auto term) COLDPRESS_INLINE_LAMBDA {
        add_row_product(end - column, steps.rows, term, from.data + column, from.pitch, to + group * outputs + column);
      };
      float const* of_taps = memory.inputs;
      Index tap = channels, step = pitch;
      if (in_place) {
        of_taps = x.row(steps.sample) + steps_of.at(steps.step, 0) * g.channels + group * channels;
        tap = steps_of.dilation * g.channels, step = steps_of.stride * g.channels;
      }
      bool const together =
          !in_place && part.tiles.first == 0 && part.tiles.last == strips.tiles;  // the rows of all taps
      OneOf<kernels.terms> const count{together ? g.terms() : Index{channels}};
      Index const last_tap = together ? 1 : parts_of(part.tiles.last, of_tap);
      for (Index r = part.tiles.first / of_tap; r < last_tap; ++r) {
        Left const a{of_taps + r * tap, 1, step};
        float* const to = gradient + r * channels * to_pitch;
        if (count == 1) {
          add_to_row(to, [&](Vector sum, Vector d, Index k)
                             COLDPRESS_INLINE_LAMBDA { return fma(splat(a.data[k * a.depth]), d, sum); });
        } else {
          Parts const tiles{part.tiles.first - r * of_tap, together ? PTRDIFF_MAX : part.tiles.last - r * of_tap};
          cpu::multiply(count, outputs, steps.rows, a, from, Added{to + group * outputs, to_pitch, outputs},
                        {panel, panel + 1}, tiles);
        }
      }
      if (biases && part.tiles.first == 0)
        add_to_row(biases, [](Vector sum, Vector d, Index) COLDPRESS_INLINE_LAMBDA { return sum + d; });
    }
  };
  for_each_steps(steps_of.out, gradient_steps(g), x.rows, [&](Steps const& all) {
    // The scratch for the last rows of dy has room for less. So that the order of a sum does not depend on the sample's
    // place in the minibatch, this goes for the last steps of all samples.
    Index const left = (steps_of.out - all.step - all.rows) * g.outputs;  // values of the sample
    bool const at_once = sees_all(g, all) && left >= padded_size(outputs) - outputs;
    Index const most = at_once ? all.rows : memory.panel.rows;
    for (Index row = 0; row < all.rows; row += most) add(all.part(row, freestanding::min(most, all.rows - row)));
  });
}
/// Adds the gradients of W and of the biases, which are among the first `shared` floats of scratch. Threads divide the
/// tiles among themselves, but not those of a single channel: where its taps are summed together, the order differs.
template <SequenceKernels kernels>
void sequence_weight_gradient(WorkPartition const& context, ConvolutionGeometry const& g, In x, In dy, float* gradient,
                              float* biases, Index shared) {
  OneOf<kernels.terms> const channels{g.group_channels()};
  Strips const strips = gradient_tiles(g, channels, OneOf<kernels.outputs>{g.group_outputs()});
  Index const at_once = channels == 1 ? strips.tiles : 1, all = strips.panels * strips.tiles / at_once;
  context.each_share(2, all, x.rows * g.products() / all, [&](Index first, Index last, int worker) {
    add_gradient_tiles<kernels>(g, x, dy, gradient, biases, first * at_once, last * at_once,
                                context.scratch_of(worker, shared));
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
