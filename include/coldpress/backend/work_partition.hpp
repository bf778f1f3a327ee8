// How kernels divide rows, tiles and samples into pieces for the threads of a Context.
#pragma once

#include <coldpress/backend/blocked_rows.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/tile.hpp>
#include <coldpress/core/executor.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/recurrent.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The order in which the tiles of a matrix product are computed: `height` tiles of each panel in turn, then the next
/// `height` tiles below them.
struct Strips {
  Index tiles, panels, height;

  struct Part {
    Index panel;
    Parts tiles;
  };
  /// The longest run of tiles of one panel from tile number `first` on. `first` then moves past it.
  Part next(Index& first, Index last) const {
    Index const above = first / (height * panels) * height, rows = freestanding::min(height, tiles - above);
    Index const at = first - above * panels, from = at % rows, to = freestanding::min(rows, from + last - first);
    first += to - from;
    return {at / rows, {above + from, above + to}};
  }
};

struct WorkPartition : Context {
  /// f(i) for each row of x.
  template <class X, class F>
  void each_row(X x, F const& f) const {
    each(x.rows, product_of(x.columns, Fixed<value_cost>{}), [&](Index first, Index last, int) {
      for (Index i = first; i < last; ++i) f(i);
    });
  }
  /// compute(first, count, scratch) writes some rows of y, those that follow its blocks; `rest`, which is PostOps or
  /// a Derivative, is applied while they are in the cache. `cost` is the work per row in multiply-adds.
  template <class Y, class Rest, class F>
  void finish_rows(Y y, Rest const& rest, Index blocks, Index at_once, Index cost, F compute) const {
    Index const start = blocks * block_size;
    each(parts_of(y.rows - start, at_once), at_once * cost, [&](Index first, Index last, int worker) {
      Index const end = freestanding::min<Index>(start + last * at_once, y.rows);
      for (Index i = start + first * at_once; i < end; i += at_once) {
        Index const count = freestanding::min(at_once, end - i);
        compute(i, count, scratch_of(worker));
        finish(y, rest, i, count);
      }
    });
  }
  template <class Columns>
  static constexpr auto panels_of(Columns columns) {
    return parts_of(vectors(columns), Fixed<tile_columns>{});
  }
  /// cpu::multiply, over all columns or some panels of them, divided into tiles. Where B is small enough to be read
  /// repeatedly from the cache, a few rows get all their columns before the next rows start, because those rows and
  /// their results stream through memory.
  template <class Count, class Columns, class Depth, class Number, class Epilogue, class Panels>
  void multiply(Count rows, Columns columns, Depth depth, Left a, Right<Number> b, Epilogue const& epilogue,
                Index panel, Panels panels) const {
    constexpr Index width = tile_columns * lanes;
    auto const tiles = tiles_of<Left>(rows, columns);
    Strips const strips{tiles, panels, panels > 1 && panels * depth * width <= Layout::resident ? 4 : Index{tiles}};
    auto const cost = parts_of(product_of(rows, columns, depth), product_of(tiles, panels_of(columns)));
    each(product_of(tiles, panels), cost, [&](Index first, Index last, int) {
      while (first < last) {
        Strips::Part const part = strips.next(first, last);
        cpu::multiply(rows, columns, depth, a, b, epilogue, {panel + part.panel, panel + part.panel + 1}, part.tiles);
      }
    });
  }
  /// cpu::transpose, divided into cache lines of `to`.
  template <class Count, class Columns, class Number>
  void transpose(Count rows, Columns columns, Number const* from, Index from_pitch, float* to, Index to_pitch) const {
    constexpr Index line = 16;
    each(parts_of(rows, Fixed<line>{}), product_of(columns, Fixed<line * value_cost>{}),
         [&](Index first, Index last, int) {
           Index const row = first * line;
           cpu::transpose(freestanding::min<Index>(last * line, rows) - row, columns, from + row * from_pitch,
                          from_pitch, to + row, to_pitch);
         });
  }
  /// f(first, count) for ranges of at least two samples. A single sample would be summed in another order.
  template <class F>
  void each_samples(Recurrence<float> const& r, F const& f) const {
    Index const gates = r.weights.gates * r.units(),
                depth = r.weights.inputs(r.part) + r.weights.hidden + 4 * value_cost,
                pairs = freestanding::max<Index>(1, r.x.samples / 2);
    each_share(2, pairs, 2 * r.x.steps * gates * depth, [&](Index first, Index last, int) {
      Index const end = last == pairs ? r.x.samples : 2 * last;
      f(2 * first, end - 2 * first);
    });
  }
};

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
