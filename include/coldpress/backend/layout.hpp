// The memory layout of the CPU backend, in floats.
#pragma once

// It is the same for every instruction set, so that a network's memory does not depend on it.

#include <coldpress/backend/convolution_parts.hpp>
#include <coldpress/core/attention.hpp>
#include <coldpress/core/bfloat16.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/parameter.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::cpu {

// The matrices that kernels read and write.
using In = Rows<float const>;
using Out = Rows<float>;

/// The number of columns of y up to which whole vectors may be stored: the whole pitch, unless rows are adjacent.
template <class Y>
__attribute__((always_inline)) constexpr Index writable(Y y) {
  return y.pitch >= padded_size(y.columns) ? y.pitch : y.columns;
}

/// The scratch of one worker that computes attention: keys and values of one head, some of them transposed or copied,
/// and the scores of a block of queries, which stays in the cache.
struct AttentionScratch {
  Index pitch;   // the distance between rows of keys
  Index block;   // the number of queries whose scores are computed at once
  Index scores;  // the floats for these
  Index keys, values, gradients;

  /// Whether rows of this size consist of whole vectors on every CPU.
  static constexpr bool whole(Index size) { return size % 16 == 0; }
  static constexpr Index copied(Index steps, Index size) { return whole(size) ? 0 : steps * padded_size(size); }

  constexpr explicit AttentionScratch(AttentionGeometry const& g)
      : pitch(padded_pitch(g.keys)),
        block(freestanding::within<Index>(6144 / pitch / 12 * 12, 12, 48)),
        scores(block * pitch),
        keys(g.size * pitch),
        values(copied(g.keys, g.value_size)),
        gradients(g.value_size * pitch + copied(g.keys, g.size) + copied(g.queries, g.size) +
                  copied(g.queries, g.value_size) + scores) {}
};

struct Layout {
  using Scalar = float;
  static constexpr Index alignment = 16;  // in floats: one cache line
  static constexpr bool keeps_blocks = true, adds_in_place = true;

  static constexpr Index pitch(Index n) { return padded_pitch(n); }

  /// The distance between the rows of a dense layer's matrix {in, out}. With one output the matrix is contiguous.
  static constexpr Index matrix_pitch(Index out) { return out == 1 ? 1 : pitch(out); }

  /// The floats that a parameter takes. A parameter with more than one axis is stored as a matrix {all other axes,
  /// first axis}, for a dense layer {in, out}, with rows matrix_pitch or pitch apart. The taps of a sequence, {out,
  /// channels, steps}, are stored as {steps, channels, out}, in the order of the sequence itself; their groups are read
  /// in whole vectors, which extend beyond the last row. Recurrent weights are stored as described at recurrent_part.
  static constexpr Index storage_size(Parameter const& parameter) {
    if (parameter.recurrent.gates > 0) return recurrent_part(parameter.recurrent, parameter.recurrent.parts());
    Shape const& shape = parameter.shape;
    int const rank = shape.rank();
    return is_canonical(parameter) ? padded_size(shape.size())
                                   : padded_size(shape.size() / shape[0] * row_pitch(parameter)) + (rank == 3 ? 16 : 0);
  }
  /// The offset of a canonical element in the storage.
  static constexpr Index offset(Parameter const& parameter, Index element) {
    Shape const& shape = parameter.shape;
    if (parameter.recurrent.gates > 0) return recurrent_offset(parameter.recurrent, element);
    if (is_canonical(parameter)) return element;
    Index depth = 1;  // not Shape::size, whose checks would be made for each element
    for (int axis = 1; axis < Shape::max_rank && shape[axis] != 0; ++axis) depth *= shape[axis];
    Index const d = element % depth, row = shape.has_rank(3) ? d % shape[2] * shape[1] + d / shape[2] : d;
    return row * row_pitch(parameter) + element / depth;
  }

  /// The distance between rows, for a parameter that is stored as a matrix.
  static constexpr Index row_pitch(Parameter const& parameter) {
    Index const columns = parameter.shape[0];
    return parameter.shape.has_rank(2) && !parameter.by_step ? matrix_pitch(columns) : pitch(columns);
  }
  /// Reads one canonical element.
  static constexpr float get(Parameter const& parameter, float const* storage, Index element) {
    return storage[offset(parameter, element)];
  }
  static constexpr void put(Parameter const& parameter, float* storage, Index element, float value) {
    storage[offset(parameter, element)] = value;
  }

  /// Whether the storage is in canonical order.
  static constexpr bool is_canonical(Parameter const& parameter) {
    return parameter.row_major || parameter.shape[1] == 0;
  }
  /// Calls f(matrix) for matrices in which each column holds the weights of one output unit or filter. A vector is one
  /// unit.
  template <class F>
  static void for_units(Parameter const& parameter, float* weight, F f) {
    Index const units = parameter.shape.rank() < 2 ? 1 : parameter.shape[0], size = parameter.shape.size() / units;
    if (!is_canonical(parameter)) return f(Rows<float>{weight, size, units, row_pitch(parameter)});
    for (Index n = 0; n < units; ++n) f(Rows<float>{weight + n * size, size, 1, 1});
  }
  /// The weights of one part of a recurrent layer are one matrix with the rows W_x {inputs, ...}, W_h {hidden, ...},
  /// b_W and b_R. Each row holds the padded gates one after another. A GRU's gates are in the order n, r, z in the rows
  /// of W_x and b_W, and r, z, n in the others, so that the products with x and those with h each go to a contiguous
  /// range of the four sums n_x, r, z, n_h.
  static constexpr Index recurrent_pitch(RecurrentWeights const& w) { return pitch(w.gates * padded_size(w.hidden)); }
  /// The offset of a part's matrix. It is always inlined: as an argument of a function, a layer's weights would have to
  /// be in memory, and g++ would forget the shapes of a stream.
  __attribute__((always_inline)) static constexpr Index recurrent_part(RecurrentWeights const& w, Index part) {
    Index const first = part < w.directions ? part : w.directions;
    return recurrent_pitch(w) *
           (first * (w.inputs(0) + w.hidden + 2) + (part - first) * ((w.directions + 1) * w.hidden + 2));
  }
  static constexpr Index recurrent_offset(RecurrentWeights const& w, Index element) {
    using Kind = RecurrentWeights::Kind;
    RecurrentWeights::Place const p = w.place(element);
    Index const inputs = w.inputs(p.part);
    Index const row = p.kind == Kind::input_matrix    ? p.column
                      : p.kind == Kind::hidden_matrix ? inputs + p.column
                      : p.kind == Kind::input_bias    ? inputs + w.hidden
                                                      : inputs + w.hidden + 1;
    bool const of_input = p.kind == Kind::input_matrix || p.kind == Kind::input_bias;
    Index const gate = w.gates == 3 && of_input ? (p.gate + 1) % 3 : p.gate;
    return recurrent_part(w, p.part) + row * recurrent_pitch(w) + gate * padded_size(w.hidden) + p.unit;
  }
  /// The floats of scratch for the gradients of recurrent weights: W_h or W_x is transposed there, and biases are
  /// summed.
  static constexpr Index recurrent_scratch(RecurrentWeights const& w, Extent extent) {
    if (!extent.training) return 0;
    Index const last = w.inputs(w.parts() - 1), first = w.inputs(0), inputs = last > first ? last : first;
    Index const sums = w.gates * padded_size(w.hidden);
    return freestanding::max(product_scratch(inputs, sums), sums * pitch(w.hidden));
  }

  /// The number of floats that stay in a core's cache while others pass through.
  static constexpr Index resident = Index{1} << 16;
  /// The rows of the matrix that product() transposes at once: all of them, or as many as stay in the cache.
  static constexpr Index transposed_at_once(Index out) {
    return freestanding::max<Index>(1, resident / (64 * out)) * 64;
  }
  template <Index out>
  static constexpr auto transposed_at_once(Fixed<out>) {
    return Fixed<transposed_at_once(Index{out})>{};
  }
  static constexpr Index weight_gradient_scratch(Index, Index) { return 0; }
  static constexpr Index product_scratch(Index in, Index out) {
    return out * pitch(freestanding::min(in, transposed_at_once(out)));
  }

  /// The floats of scratch that a convolution and a pooling need.
  static constexpr Index convolution_scratch(ConvolutionGeometry const& g, Extent extent) {
    Panel const panel{g}, back{g, true};
    Index const gradient = extent.training ? gradients(g) : 0,
                turning = g.is_sequence()   ? pitch(panel.outputs)
                          : extent.training ? turned(g)
                                            : 0,
                back_weights =
                    g.is_sequence() && extent.input_gradient ? g.taps() * panel.outputs * pitch(g.group_channels()) : 0,
                weights = freestanding::max(panel.filters_size(g) + (g.is_sequence() ? turning : 0), back_weights),
                inputs = extent.input_gradient
                             ? freestanding::max(panel.size(), freestanding::max(back.size(), back.gradient_size(g)))
                             : panel.size(),
                results = extent.input_gradient ? freestanding::max(panel.output_size(), back.output_size())
                                                : panel.output_size();
    Index const sums = extent.adds && !g.is_sequence() ? back.images * pitch(g.in()) : 0;
    Index const products = 3 * Panel::slack + sums + inputs + results + freestanding::max(weights, gradient + turning) +
                           unpooled(g, extent);
    Index const planes = DepthwisePlanes::suit(g) ? DepthwisePlanes::scratch(g) + unpooled(g, extent) : 0;
    Index const size = freestanding::max(products, planes);
    if (extent.blocks == 0 || !g.in_blocks()) return extent.workers * size;
    Index const border = freestanding::max(size, block_border(g, extent));
    return block_scratch(g, extent) + extent.workers * border;
  }
  /// The planes of each worker: forward those that the filters see, backward those of one tap. The workers share the
  /// weights in the order of the taps; the gradient of the weights, which is computed from one plane of the output
  /// after another, is in their place.
  static constexpr Index convolution_scratch(VolumeGeometry const& g, Extent extent) {
    if (!g.is_volume()) return convolution_scratch(static_cast<ConvolutionGeometry const&>(g), extent);
    VolumePlanes const all{g.of_planes()}, tap{g.of_tap(), true};
    Index const forward =
                    all.size() + convolution_scratch(all.g, {.training = false, .input_gradient = false, .blocks = 0}),
                back =
                    tap.size() + convolution_scratch(tap.g, {.training = false, .input_gradient = true, .blocks = 0}),
                gradient = gradients(g) + all.in() + all.out() + turned(all.g);
    Index const shared = freestanding::max(extent.training ? gradient : 0, extent.input_gradient ? gradients(g) : 0),
                own = freestanding::max(forward, extent.input_gradient ? back : 0);
    return shared + extent.workers * own;
  }
  static constexpr Index pooling_scratch(PoolingGeometry const& g) { return 16 * (g.in() + 2 * g.out()); }
  static constexpr Index attention_scratch(AttentionGeometry const& g, Extent extent) {
    AttentionScratch const part{g};
    Index const forward = part.keys + part.values + part.scores;
    return extent.workers *
           (extent.training ? freestanding::max(forward, part.keys + part.gradients + part.scores) : forward);
  }
  /// The floats of the gradients of the weights, with one more row for the biases.
  template <class G>
  static constexpr Index gradients(G const& g) {
    return (g.terms() + 1) * pitch(g.outputs);
  }
  /// The floats of dy that the weight gradient of an image transposes and sums at once, unless one row has more. They
  /// stay in the cache.
  static constexpr Index most_turned = Index{1} << 14;
  static constexpr Index turned(ConvolutionGeometry const& g) {
    return freestanding::max(most_turned, g.width.out * pitch(g.group_outputs()));
  }
  /// The limits for blocks of images.
  static constexpr Index most_outputs = 5, most_taps = 5;  // per tile
  static constexpr Index most_gathered = Index{1} << 20;   // floats of x that are gathered, unless one block has more
  static constexpr Index most_planes = Index{1} << 17;     // floats of a tile's dy that are summed at once: they stay
                                                           // in the cache
  /// The floats of the sums of a weight gradient's tile.
  static constexpr Index block_sums(ConvolutionGeometry const& g) {
    return 16 * most_outputs * most_taps * g.height.filter;
  }
  static constexpr Index blocks_at_once(ConvolutionGeometry const& g) {
    Index const most = freestanding::min(most_gathered / g.in(), most_planes / (most_outputs * g.positions()));
    return freestanding::max<Index>(1, most / 16);
  }
  static constexpr Index gathered(ConvolutionGeometry const& g, Index blocks) {
    return 16 * g.in() * freestanding::min(blocks_at_once(g), blocks);
  }
  static constexpr Index block_scratch(ConvolutionGeometry const& g, Extent extent) {
    Index const gradient = extent.training ? gradients(g) + gathered(g, extent.blocks) : 0;
    return freestanding::max(padded_size(g.terms() * g.outputs), gradient);
  }
  /// The floats that each worker needs. Forward and input gradient: one block of what is read and the planes that are
  /// written, where these are not in blocks. Weight gradient: the sums of a tile and the planes that they are sums of.
  /// In addition, one plane of maxima where a max pooling is in the same pass.
  static constexpr Index block_border(ConvolutionGeometry const& g, Extent extent) {
    Index const forward = g.in() + most_outputs * g.positions(),
                back = extent.input_gradient ? g.out() + most_outputs * g.height.in * g.width.in : 0,
                planes = most_outputs * g.positions() * freestanding::min(blocks_at_once(g), extent.blocks),
                tile = extent.training ? block_sums(g) + 16 * planes : 0;
    return freestanding::max(16 * freestanding::max(forward, back), tile) + 16 * extent.maxima / g.outputs;
  }
  /// The floats of remaining samples that are in no block, before their maxima are taken.
  static constexpr Index unpooled(ConvolutionGeometry const& g, Extent extent) {
    Index const planes = g.positions() + 2 * extent.maxima / g.outputs;
    return extent.maxima > 0 ? 16 * (pitch(g.out()) + planes) : 0;
  }
};

/// The same layout with the matrices of dense layers as rows of Bfloat16, in half the bytes. Their pitch is counted in
/// Bfloat16 values.
struct HalfLayout : Layout {
  static constexpr bool halves(Parameter const& parameter) {
    return parameter.shape.rank() == 2 && parameter.recurrent.gates == 0 && !parameter.by_step &&
           !is_canonical(parameter);
  }
  static constexpr Index storage_size(Parameter const& parameter) {
    Index const size = Layout::storage_size(parameter);
    return halves(parameter) ? padded_size(size / 2) : size;
  }
  static float get(Parameter const& parameter, float const* storage, Index element) {
    if (!halves(parameter)) return Layout::get(parameter, storage, element);
    Bfloat16 half;
    __builtin_memcpy(&half, at(storage, parameter, element), sizeof half);
    return static_cast<float>(half);
  }
  static void put(Parameter const& parameter, float* storage, Index element, float value) {
    if (!halves(parameter)) return Layout::put(parameter, storage, element, value);
    Bfloat16 const half{value};
    __builtin_memcpy(const_cast<char*>(at(storage, parameter, element)), &half, sizeof half);
  }
  /// The matrix in a parameter's storage.
  static Bfloat16 const* matrix(float const* storage) { return reinterpret_cast<Bfloat16 const*>(storage); }

 private:
  static char const* at(float const* storage, Parameter const& parameter, Index element) {
    return reinterpret_cast<char const*>(storage) + 2 * offset(parameter, element);
  }
};

}  // namespace coldpress::cpu
