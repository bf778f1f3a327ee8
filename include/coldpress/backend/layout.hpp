// Where the CPU backend puts numbers: the same for every instruction set, so that a network's memory does not depend on
// it.
#pragma once

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

  /// Floats that a parameter takes. Matrices {out, in} are kept as {in, out} with padded rows, others as they are.
  static constexpr Index storage_size(Parameter const& parameter) {
    Shape const& shape = parameter.shape;
    return shape.rank() == 2 ? shape[1] * pitch(shape[0]) : cells(shape.size());
  }
  /// Offset in the storage of the canonical element.
  static constexpr Index offset(Parameter const& parameter, Index element) {
    Shape const& shape = parameter.shape;
    return shape.rank() == 2 ? element % shape[1] * pitch(shape[0]) + element / shape[1] : element;
  }

  /// Whether the storage has the canonical order.
  static constexpr bool is_canonical(Parameter const& parameter) { return parameter.shape.rank() != 2; }

  /// Floats of scratch that product() needs: the matrix is transposed there.
  static constexpr Index product_scratch(Index in, Index out) { return out * pitch(in); }
};

}  // namespace coldpress::cpu
