// Where the CPU backend puts numbers: the same for every instruction set, so that a network's memory does not depend on
// it.
#pragma once

#include <coldpress/core/shape.hpp>

namespace coldpress::cpu {

struct Layout {
  using Scalar = float;
  static constexpr Index alignment = 16;  // floats: one cache line

  /// Distance of rows of n values: whole cache lines, and no multiple of 1 KiB, since such rows share L1 sets.
  static constexpr Index pitch(Index n) {
    n = (n + 15) / 16 * 16;
    return n % 256 == 0 ? n + 16 : n;
  }
  /// Floats that a parameter of this (canonical) shape takes. Matrices {out, in} are kept as {in, out} with padded
  /// rows.
  static constexpr Index storage_size(Shape shape) {
    return shape.rank() == 2 ? shape[1] * pitch(shape[0]) : (shape.size() + 15) / 16 * 16;
  }

  /// Floats of scratch that backward needs for a parameter of this shape: a matrix is transposed there.
  static constexpr Index scratch_size(Shape shape) { return shape.rank() == 2 ? shape[0] * pitch(shape[1]) : 0; }

  /// Offset in the storage of the canonical element.
  static constexpr Index offset(Shape shape, Index element) {
    return shape.rank() == 2 ? element % shape[1] * pitch(shape[0]) + element / shape[1] : element;
  }
};

}  // namespace coldpress::cpu
