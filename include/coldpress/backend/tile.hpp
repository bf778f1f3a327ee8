// The register tile: a block of a matrix product that stays in registers from the first term to the epilogue.
#pragma once

// Shapes are arguments.

#include <coldpress/backend/math.hpp>
#include <coldpress/backend/split.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

// The sums, one row of B and one broadcast value fill the registers: 24 + 4 + 1 of 32, or 12 + 2 + 1 of 16 (plus one
// for the product without fma).
#if defined __AVX512F__
inline constexpr int tile_columns = 4, tile_rows = 6;
#elif defined __AVX2__ && defined __FMA__
inline constexpr int tile_columns = 2, tile_rows = 6;
#elif defined __aarch64__
inline constexpr int tile_columns = 4, tile_rows = 6;
#else
inline constexpr int tile_columns = 2, tile_rows = 5;
#endif

/// The rows of a tile with one vector of columns. A row has a single sum then, and more rows are needed for as many
/// sums as the units for multiplication can have under way.
inline constexpr int narrow_tile_rows = 8;
/// The vectors of columns of a tile of one row, for the same reason.
inline constexpr int short_tile_columns = 8;
/// The largest number of rows of a tile with w vectors of columns, for a product with A.
template <class A, int w>
constexpr int most_rows() {
  constexpr bool packed = requires { A::in_tiles; };
  return w == 1 && !packed ? narrow_tile_rows : tile_rows;
}

/// The number of tiles below one another in a product of so many rows and columns.
template <class A>
constexpr Index tiles_of(Index rows, Index columns) {
  return parts_of(rows, vectors(columns) == 1 ? most_rows<A, 1>() : most_rows<A, 2>());
}
template <class A, Index rows, Index columns>
constexpr auto tiles_of(Fixed<rows>, Fixed<columns>) {
  return Fixed<tiles_of<A>(Index{rows}, Index{columns})>{};
}

/// Element (i, k) of A is data[i * row + k * depth].
struct Left {
  float const* data;
  Index row, depth;

  template <int h>
  struct Cursor {
    float const* at;
    Index row, depth;
    COLDPRESS_INLINE float operator[](int i) const { return at[i * row]; }
    COLDPRESS_INLINE void next() { at += depth; }
  };
  template <int h>
  COLDPRESS_INLINE Cursor<h> from(Index first) const {
    return {data + first * row, row, depth};
  }
};
/// Row k of B starts at data + k * pitch, with column `first`. Its numbers are floats or bfloat16.
template <class Number>
struct Right {
  Number const* data;
  Index pitch, first = 0;

  COLDPRESS_INLINE Right from(Index column) const { return {data + (column - first), pitch, column}; }
  COLDPRESS_INLINE void next() { data += pitch; }
  COLDPRESS_INLINE void fetch(Index distance) const { __builtin_prefetch(data + distance); }
};
template <class Number>
Right(Number const*, Index) -> Right<Number>;

/// sum[i][j] = sum over k = 0, 1, ... of A(row + i, k) * B(k, column + j), from where the epilogue starts or from 0.
/// Each term is one fma, so the order of the sum depends on the depth alone. The epilogue takes the sums from the
/// registers. Meanwhile, with each k, one vector of what the epilogue will read may be prefetched, and the values of B
/// that are `distance` ahead. The function is not inlined, so that one copy serves every shape.
template <int h, int w, class A, class B, class Epilogue>
__attribute__((noinline)) void tile(Index depth, A const& a, B const& b, Epilogue const& epilogue, Index row,
                                    Index column, Index distance = 0) {
  Vector sum[h][w] = {};
  if constexpr (requires { epilogue.start(sum, row, column); }) epilogue.start(sum, row, column);
  auto left = a.template from<h>(row);
  auto right = b.from(column);
  auto const add = [&]() COLDPRESS_INLINE_LAMBDA {
    Vector values[w];
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) values[j] = load(right.data + j * lanes);
    COLDPRESS_UNROLL
    for (int i = 0; i < h; ++i) {
      Vector const x = splat(left[i]);
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) sum[i][j] = fma(x, values[j], sum[i][j]);
    }
    left.next(), right.next();
  };
  for (Index k = 0; k < depth; ++k) {
    if constexpr (requires { epilogue.fetch(row, column); }) {
      if (k < h * w) epilogue.fetch(row + k / w, column + k % w * lanes);
    } else if constexpr (w > 1 && requires { right.fetch(distance); }) {
      right.fetch(distance);  // after one vector of columns, no other follows
    }
    add();
  }
  Epilogue const local = epilogue;  // stores cannot change a copy, so pointers and factors stay in registers
  local.finish(sum, row, column);
}

/// The epilogue y += sum; columns beyond the last are left alone.
struct Added {
  float* y;
  Index pitch, columns;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    auto const for_rows = [&](auto f) COLDPRESS_INLINE_LAMBDA {
      COLDPRESS_UNROLL
      for (int n = 0; n < h * w; ++n) {
        Index const c = column + n % w * lanes;
        f(sum[n / w][n % w], y + (row + n / w) * pitch + c, columns - c);
      }
    };
    // Everything is read first: a processor would let the vector of a short row wait for the row stored before it.
    for_rows([](Vector& v, float const* at, Index left) COLDPRESS_INLINE_LAMBDA { v += load_row(at, left); });
    for_rows([](Vector v, float* at, Index left) COLDPRESS_INLINE_LAMBDA { store_row(at, v, left); });
  }
};

/// epilogue(A B), where A is rows x depth and B is depth x columns; the rows of B must be readable up to the next
/// multiple of the lanes. Only the tiles in `of_columns` and `of_rows` are computed. The tiles of one range of columns
/// prefetch B for the next.
template <class Count, class Columns, class A, class B, class Epilogue>
void multiply(Count rows, Columns columns, Index depth, A a, B b, Epilogue const& epilogue, Parts of_columns = {},
              Parts of_rows = {}) {
  auto const all = vectors(columns);
  split<tile_columns>(
      all,
      [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
        split<most_rows<A, w>()>(
            rows,
            [&](Index row, auto h) COLDPRESS_INLINE_LAMBDA {
              Index const distance = v + w < all ? (w + row / h % w) * lanes : 0;
              tile<h, w>(depth, a, b, epilogue, row, v * lanes, distance);
            },
            of_rows);
      },
      of_columns);
}
template <class Count, class Columns, class Number, class Epilogue>
void multiply(Count rows, Columns columns, Index depth, Left a, Number const* b, Index b_pitch,
              Epilogue const& epilogue) {
  multiply(rows, columns, depth, a, Right{b, b_pitch}, epilogue);
}

/// The same product as multiply, with the same bits, for a single row.
template <class B, class Epilogue>
void multiply_row(Index columns, Index depth, Left a, B b, Epilogue const& epilogue) {
  split<short_tile_columns>(vectors(columns), [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
    tile<1, w>(depth, a, b, epilogue, 0, v * lanes);
  });
}

/// f(number, first column, columns) for the panels of B that the tiles of `multiply` read, one after the other.
template <class F>
void for_each_panel(Index columns, F f) {
  Index const all = vectors(columns);
  for (Index panel = 0; panel < parts_of(all, tile_columns); ++panel) {
    Index const first = start_of(panel, all, tile_columns);
    f(panel, first * lanes, (start_of(panel + 1, all, tile_columns) - first) * lanes);
  }
}
/// Packs B {depth, columns} panel by panel: {panels, depth, columns of a panel}. As B is stored, the rows of a panel
/// may be so far apart that they share a few sets of the L1 cache, from where the tiles of one panel shall read them
/// again.
template <class = void>
__attribute__((noinline)) void pack_panels(Index depth, Index columns, float const* from, Index pitch, float* to) {
  for_each_panel(columns, [&](Index, Index first, Index width) {
    for (Index k = 0; k < depth; ++k) {
      for (Index c = 0; c < width; c += lanes, to += lanes) store(to, load(from + k * pitch + first + c));
    }
  });
}
/// The same product as multiply, with the same bits, for a packed B.
template <class Count, class Columns, class A, class Epilogue>
void multiply_packed(Count rows, Columns columns, Index depth, A a, float const* packed, Epilogue const& epilogue) {
  for_each_panel(columns, [&](Index panel, Index first, Index width) {
    Right<float> const b{packed + first * depth, width, first};
    multiply(rows, columns, depth, a, b, epilogue, {panel, panel + 1});
  });
}

/// Transposes a square in log2(lanes) perfect shuffles.
COLDPRESS_INLINE void turn(Vector (&t)[lanes]) {
  Vector next[lanes];
  for (int stage = 1; stage < lanes; stage *= 2) {
    COLDPRESS_UNROLL
    for (int r = 0; r < lanes / 2; ++r) {
      next[2 * r] = interleave<0>(t[r], t[r + lanes / 2]);
      next[2 * r + 1] = interleave<1>(t[r], t[r + lanes / 2]);
    }
    COLDPRESS_UNROLL
    for (int r = 0; r < lanes; ++r) t[r] = next[r];
  }
}

/// The largest number of columns for which `turns` holds.
inline constexpr int turned_columns = tile_rows < lanes / 2 ? tile_rows : lanes / 2;
/// Whether a product of this many rows and columns is better computed with rows as lanes, because few columns would
/// leave most lanes empty.
constexpr bool turns(Index rows, Index columns) {
  return columns <= turned_columns && rows % (tile_columns * lanes) == 0;
}
template <Index rows, Index columns>
constexpr auto turns(Fixed<rows>, Fixed<columns>) {
  return std::bool_constant<turns(Index{rows}, Index{columns})>{};
}
/// Transposes a tile whose columns are the rows of the result.
template <class Epilogue>
struct Turned {
  Epilogue epilogue;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index, Index column) const {
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) {
      Vector square[lanes] = {}, rows[lanes][1];
      COLDPRESS_UNROLL
      for (int i = 0; i < h; ++i) square[i] = sum[i][j];
      turn(square);
      COLDPRESS_UNROLL
      for (int r = 0; r < lanes; ++r) rows[r][0] = square[r];
      epilogue.finish(rows, column + j * lanes, 0);
    }
  }
};
/// The same product as multiply, with the same bits, for shapes where `turns` holds: A is columns x depth, B is depth x
/// rows.
template <class Count, class Columns, class Epilogue>
void multiply_turned(Count rows, Columns columns, Index depth, Left a, Right<float> b, Epilogue const& epilogue) {
  Turned<Epilogue> const turned{epilogue};
  split<turned_columns>(columns, [&](Index, auto h) COLDPRESS_INLINE_LAMBDA {  // one part
    for (Index column = 0; column < rows; column += tile_columns * lanes)
      tile<h, tile_columns>(depth, a, b, turned, 0, column);
  });
}

/// to[c][r] = from[r][c] for one square of lanes x lanes, or for what there is of it. It is not inlined: in the loops
/// below, compilers would compute the addresses of all rows and columns in advance and keep them in memory.
template <bool exact, class Number>
__attribute__((noinline)) void transpose_square(Index rows, Index columns, Number const* from, Index from_pitch,
                                                float* to, Index to_pitch) {
  alignas(64) static constexpr Number zeros[lanes] = {};  // in place of rows that are not there
  float nowhere[lanes];                                   // and of columns
  Vector t[lanes];
  COLDPRESS_UNROLL
  for (int r = 0; r < lanes; ++r, from += from_pitch) {
    Number const* const line = r < rows ? from : zeros;
    t[r] = exact && columns < lanes ? load_partial(line, columns) : load(line);
  }
  turn(t);
  COLDPRESS_UNROLL
  for (int c = 0; c < lanes; ++c, to += to_pitch) {
    float* const line = c < columns ? to : nowhere;
    exact ? store_row(line, t[c], rows) : store(line, t[c]);
  }
}
/// to[c][r] = from[r][c] in such squares. The padding of `to` becomes zero. `exact` says that neither matrix has
/// padding; then nothing beyond them is read or written.
template <bool exact = false, class Number>
void transpose(Index rows, Index columns, Number const* from, Index from_pitch, float* to, Index to_pitch) {
  for (Index r = 0; r < rows; r += lanes) {
    for (Index c = 0; c < columns; c += lanes)
      transpose_square<exact>(rows - r, columns - c, from + r * from_pitch + c, from_pitch, to + c * to_pitch + r,
                              to_pitch);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
