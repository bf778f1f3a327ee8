// Where the CPU backend puts numbers: the same for every instruction set, so that a network's memory does not depend on
// it.
#pragma once

#include <coldpress/core/parameter.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::cpu {

struct Layout {
  using Scalar = float;
  static constexpr Index alignment = 16;  // floats: one cache line

  static constexpr Index pitch(Index n) { return padded_pitch(n); }
  static constexpr Index cells(Index n) { return (n + 15) / 16 * 16; }

  /// Floats that a parameter takes. Matrices {out, in} are kept as {in, out} with padded rows, recurrent weights as
  /// recurrent_part says, others as they are.
  static constexpr Index storage_size(Parameter const& parameter) {
    Shape const& shape = parameter.shape;
    if (parameter.recurrent.gates > 0) return recurrent_part(parameter.recurrent, parameter.recurrent.parts());
    return shape.rank() == 2 ? shape[1] * pitch(shape[0]) : cells(shape.size());
  }
  /// Offset in the storage of the canonical element.
  static constexpr Index offset(Parameter const& parameter, Index element) {
    Shape const& shape = parameter.shape;
    if (parameter.recurrent.gates > 0) return recurrent_offset(parameter.recurrent, element);
    return shape.rank() == 2 ? element % shape[1] * pitch(shape[0]) + element / shape[1] : element;
  }

  /// Whether the storage has the canonical order.
  static constexpr bool is_canonical(Parameter const& parameter) {
    return parameter.shape.rank() != 2 && parameter.recurrent.gates == 0;
  }
  /// A part of recurrent weights is one matrix: rows W_x {inputs, ...}, W_h {hidden, ...}, b_W, b_R; each row holds the
  /// gates one after another, padded. So that what is multiplied with x and what with h are runs of the same four sums
  /// n_x, r, z, n_h, a GRU's gates stand as n, r, z in the rows of W_x and b_W, and as r, z, n in the others.
  static constexpr Index recurrent_pitch(RecurrentWeights const& w) { return pitch(w.gates * cells(w.hidden)); }
  /// Where the matrix of a part starts.
  static constexpr Index recurrent_part(RecurrentWeights const& w, Index part) {
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
    return recurrent_part(w, p.part) + row * recurrent_pitch(w) + gate * cells(w.hidden) + p.unit;
  }
  /// Floats of scratch that the gradients of recurrent weights need: W_h or W_x is transposed there.
  static constexpr Index recurrent_scratch(RecurrentWeights const& w) {
    Index const last = w.inputs(w.parts() - 1), first = w.inputs(0), inputs = last > first ? last : first;
    return product_scratch(inputs > w.hidden ? inputs : w.hidden, w.gates * cells(w.hidden));
  }

  /// Floats of scratch that product() needs: the matrix is transposed there.
  static constexpr Index product_scratch(Index in, Index out) { return out * pitch(in); }
};

}  // namespace coldpress::cpu
