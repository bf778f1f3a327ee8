// A dense layer applied to one sample, where latency matters most.
#pragma once

// Shapes are arguments; where the compiler knows them, everything is inlined.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// For a layer with one output, the lanes are inputs. Calls f(Int<number of partial sums>{}, V{}), chosen by the number
/// of terms.
template <class F>
COLDPRESS_INLINE void with_terms(Index depth, F f) {
  if (depth <= lanes_of<Narrow>) return f(Int<1>{}, Narrow{});
  if (depth <= lanes) return f(Int<1>{}, Vector{});
  depth < 4 * lanes ? f(Int<2>{}, Vector{}) : f(Int<4>{}, Vector{});
}
/// The dot product of a row with W. Whole vectors of W are read, but lanes beyond its end are ignored, because training
/// may leave anything there, NaN included.
template <int parts, class V, class Number, class Epilogue>
COLDPRESS_INLINE void dot(Index depth, float const* x, Number const* w, Epilogue const& epilogue, Index row) {
  constexpr int width = lanes_of<V>;
  V sums[parts] = {};
  Index k = 0;
  auto const add = [&](auto p, V v, V weight) COLDPRESS_INLINE_LAMBDA { sums[p] = fma(v, weight, sums[p]); };
  for (; k + parts * width <= depth; k += parts * width)
    for_constants<parts>(
        [&](auto p) COLDPRESS_INLINE_LAMBDA { add(p, load<V>(x + k + p * width), load<V>(w + k + p * width)); });
  for_constants<parts>([&](auto p) COLDPRESS_INLINE_LAMBDA {
    Index const at = k + p * width, left = depth - at;
    if (left > 0) add(p, load_row<V>(x + at, left), masked(load<V>(w + at), left));
  });
  for_constants<parts - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    constexpr int p = parts - 1 - i, half = p >= 2 ? 2 : 1;
    sums[p - half] += sums[p];
  });
  Vector total[1][1] = {{Vector{sum(sums[0])}}};
  epilogue.finish(total, row, 0);
}

template <class Number, class Epilogue>
COLDPRESS_INLINE void dot(Index depth, float const* x, Number const* w, Epilogue const& epilogue, Index row) {
  with_terms(depth,
             [&](auto parts, auto v) COLDPRESS_INLINE_LAMBDA { dot<parts, decltype(v)>(depth, x, w, epilogue, row); });
}

/// Sums w columns of the row, or w vectors of them if V is a vector. There are `parts` partial sums (of the terms k =
/// p, p + parts, ...), which are added pairwise at the end.
template <int parts, int w, class V, class Number>
COLDPRESS_INLINE void sum_columns(Index depth, float const* x, Number const* b, Index b_pitch, V (&total)[w]) {
  constexpr int width = lanes_of<V>;
  V sum[parts][w] = {};
  auto const add = [&](Index k, auto p) COLDPRESS_INLINE_LAMBDA {
    V const a = splat<V>(x[k]);
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) sum[p][j] = fma(a, load<V>(b + p * b_pitch + j * width), sum[p][j]);
  };
  Index k = 0;
  for (; k + parts <= depth; k += parts, b += parts * b_pitch) {
    COLDPRESS_UNROLL
    for (int p = 0; p < parts; ++p) add(k + p, p);
  }
  COLDPRESS_UNROLL
  for (int p = 0; p < parts - 1; ++p) {
    if (k + p < depth) add(k + p, p);
  }
  for_constants<parts - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    constexpr int p = parts - 1 - i, half = p >= 4 ? 4 : p >= 2 ? 2 : 1;
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) sum[p - half][j] += sum[p][j];
  });
  COLDPRESS_UNROLL
  for (int j = 0; j < w; ++j) total[j] = sum[0][j];
}
/// Computes w vectors of columns of the row. A processor without registers for vectors would keep such sums in memory,
/// so it sums the columns of one vector at a time, each by itself, to the same bits.
template <int parts, int w, class V, class Number, class Epilogue>
COLDPRESS_INLINE void row_block(Index depth, float const* x, Number const* b, Index b_pitch, Epilogue const& epilogue,
                                Index column) {
  Vector total[1][w];
  if constexpr (!has_vector_registers && std::is_same_v<Number, float>) {
    for (int v = 0; v < w; ++v) {
      float columns[lanes];
      sum_columns<parts>(depth, x, b + column + v * lanes, b_pitch, columns);
      total[0][v] = load(columns);
    }
  } else {
    V sums[w];
    sum_columns<parts>(depth, x, b + column, b_pitch, sums);
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) total[0][j] = resize<Vector>(sums[j]);
  }
  epilogue.finish(total, 0, column);
}
/// The number of vectors of a row that are summed at once, large enough that W is read in memory order, and the number
/// of partial sums of each.
inline constexpr int row_columns = 2 * tile_columns;
constexpr int row_parts(int w) { return 2 * w <= tile_columns ? 8 : w <= tile_columns ? 4 : 2; }

template <class Number, class Chain, class Join>
COLDPRESS_INLINE Output<Chain, Join> output_of(AffineStep<Number, Chain, Join> const& s) {
  return {s.post_ops, s.bias, s.y, 0, s.writable};
}
template <int w, class V, class Step>
COLDPRESS_INLINE void affine_block(Step const& s, Index depth, Index column) {
  row_block<row_parts(w), w, V>(depth, s.x, s.weight, s.pitch, output_of(s), column);
}

/// The same as affine_block, but not inlined, so that one copy serves every shape.
template <int w, class V, class Step>
__attribute__((noinline)) void affine_tile(void const* step) {
  Step const s = *static_cast<Step const*>(step);  // stores cannot change a copy
  affine_block<w, V>(s, s.inputs, s.column);
}
/// For rows that are too long for one tile.
template <class Step>
void affine_tiles(void const* step) {
  Step s = *static_cast<Step const*>(step);
  split<row_columns>(vectors(s.outputs), [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
    s.column = v * lanes;
    affine_tile<w, Vector, Step>(&s);
  });
}
template <int parts, class V, class Step>
void affine_dot(void const* step) {
  auto const& s = *static_cast<Step const*>(step);
  dot<parts, V>(s.inputs, s.x, s.weight, output_of(s), 0);
}
template <class Number, class Chain, class Join>
Kernel kernel_of(AffineStep<Number, Chain, Join> const& s) {
  using Step = AffineStep<Number, Chain, Join>;
  Kernel kernel = affine_tiles<Step>;
  if (s.outputs == 1) {
    with_terms(s.inputs, [&](auto parts, auto v) { kernel = affine_dot<parts, decltype(v), Step>; });
    return kernel;
  }
  if (s.outputs <= lanes_of<Narrow>) return affine_tile<1, Narrow, Step>;
  for_constants<row_columns>([&](auto w) COLDPRESS_INLINE_LAMBDA {
    if (vectors(s.outputs) == w + 1) kernel = affine_tile<w + 1, Vector, Step>;
  });
  return kernel;
}

template <class Number, class Chain, class Join>
COLDPRESS_INLINE void affine_row(AffineStep<Number, Chain, Join> const& s, Index, Index) {
  kernel_of(s)(&s);
}
/// Where the compiler knows the shape, the code is inlined, because a small layer takes less time than a call.
template <class Number, class Chain, class Join, Index inputs, Index outputs>
COLDPRESS_INLINE void affine_row(AffineStep<Number, Chain, Join> const& s, Fixed<inputs>, Fixed<outputs>) {
  if constexpr (outputs == 1) {
    dot(inputs, s.x, s.weight, output_of(s), 0);
  } else {
    using V = std::conditional_t<(outputs <= lanes_of<Narrow>), Narrow, Vector>;
    split<row_columns>(Fixed<vectors(outputs)>{},
                       [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA { affine_block<w, V>(s, inputs, v * lanes); });
  }
}

/// Converts the matrix of a layer with one output to floats. Whole vectors are read and written.
template <class Number>
void copy_run(Number const* from, float* to, Index size) {
  for (Index k = 0; k < size; k += lanes) store(to + k, load<Vector>(from + k));
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
