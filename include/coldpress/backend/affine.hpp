// One sample through a dense layer, where latency rules. Shapes are arguments; where the compiler knows them, all is
// inlined.
#pragma once

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/steps.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Some columns of the row: `parts` sums (of k = p, p + parts, ...), added half by half at the end.
template <int parts, int w, class V, class Number, class Epilogue>
COLDPRESS_INLINE void row_block(Index depth, float const* x, Number const* b, Index b_pitch, Epilogue const& epilogue,
                                Index column) {
  V sum[parts][w] = {};
  b += column;
  auto const add = [&](Index k, auto p) COLDPRESS_INLINE_LAMBDA {
    V const a = splat<V>(x[k]);
    unroll<w>([&](auto j)
                  COLDPRESS_INLINE_LAMBDA { sum[p][j] = fma(a, load<V>(b + p * b_pitch + j * lanes), sum[p][j]); });
  };
  Index k = 0;
  for (; k + parts <= depth; k += parts, b += parts * b_pitch) {
    unroll<parts>([&](int p) COLDPRESS_INLINE_LAMBDA { add(k + p, p); });
  }
  unroll<parts - 1>([&](int p) COLDPRESS_INLINE_LAMBDA {
    if (k + p < depth) add(k + p, p);
  });
  for_constants<parts - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    constexpr int p = parts - 1 - i, half = p >= 4 ? 4 : p >= 2 ? 2 : 1;
    unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { sum[p - half][j] += sum[p][j]; });
  });
  Vector total[1][w];
  unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { total[0][j] = resize<Vector>(sum[0][j]); });
  epilogue.finish(total, 0, column);
}
/// Vectors of a row that are summed at once: of many, so that W is read as it lies in memory; and their parts.
inline constexpr int row_columns = 2 * tile_columns;
constexpr int row_parts(int w) { return 2 * w <= tile_columns ? 8 : w <= tile_columns ? 4 : 2; }

template <int w, class V, class Number, class Chain, class Join>
COLDPRESS_INLINE void affine_block(AffineStep<Number, Chain, Join> const& s, Index depth, Index column) {
  Output<Chain, Join> const epilogue{s.then, s.bias, s.y, 0, s.writable};
  row_block<row_parts(w), w, V>(depth, s.x, s.weight, s.pitch, epilogue, column);
}

/// The same, not inlined: one copy serves every shape.
template <int w, class V, class Step>
__attribute__((noinline)) void affine_tile(void const* step) {
  Step const s = *static_cast<Step const*>(step);  // stores cannot change a copy
  affine_block<w, V>(s, s.inputs, s.column);
}
/// Of rows that are too long for one.
template <class Step>
void affine_tiles(void const* step) {
  Step s = *static_cast<Step const*>(step);
  split<row_columns>(vectors(s.outputs), [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
    s.column = v * lanes;
    affine_tile<w, Vector, Step>(&s);
  });
}
template <class Number, class Chain, class Join>
Kernel kernel_of(AffineStep<Number, Chain, Join> const& s) {
  using Step = AffineStep<Number, Chain, Join>;
  if (s.outputs <= lanes_of<Narrow>) return affine_tile<1, Narrow, Step>;
  Kernel kernel = affine_tiles<Step>;
  for_constants<row_columns>([&](auto w) COLDPRESS_INLINE_LAMBDA {
    if (vectors(s.outputs) == w + 1) kernel = affine_tile<w + 1, Vector, Step>;
  });
  return kernel;
}

template <class Number, class Chain, class Join>
COLDPRESS_INLINE void affine_row(AffineStep<Number, Chain, Join> const& s, Index, Index) {
  kernel_of(s)(&s);
}
/// Where the compiler knows the shape, it is inlined: a small layer takes less time than a call.
template <class Number, class Chain, class Join, Index inputs, Index outputs>
COLDPRESS_INLINE void affine_row(AffineStep<Number, Chain, Join> const& s, Fixed<inputs>, Fixed<outputs>) {
  using V = std::conditional_t<(outputs <= lanes_of<Narrow>), Narrow, Vector>;
  split<row_columns>(Fixed<vectors(outputs)>{},
                     [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA { affine_block<w, V>(s, inputs, v * lanes); });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
