// Products of matrices by blocks: each makes a tile of 64 x 64 from panels in shared memory, 4 x 4 sums a thread.
#pragma once

#include <coldpress/backend/grid/team.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress::grid {

inline constexpr Index tile = 64, panel = 16, per_thread = 4;  // rows and columns of the last are one thread's sums
static_assert(tile / per_thread * (tile / per_thread) == threads && 2 * panel * (tile + per_thread) <= shared_values);

/// So many products {m, k} {k, n}, of which each has terms from `first` to `last` alone where they are split.
struct Products {
  Index count, m, n, k;
  Index splits = 1;

  constexpr Index tiles() const { return parts(m, tile) * parts(n, tile); }
  constexpr Index terms() const { return parts(parts(k, splits), panel) * panel; }  // of a split
  /// Into how many parts sums over k are cut, so that there is work for a whole GPU. It depends on the shapes alone.
  static constexpr Index wanted_splits(Index count, Index m, Index n, Index k) {
    Index const blocks = count * parts(m, tile) * parts(n, tile), most = parts(k, 8 * panel);
    return blocks >= 128 ? 1 : freestanding::smaller<Index>(parts(128, blocks), most);
  }
};

/// Fills a panel of shared memory, row after row of `tile` values and a gap, with value(at, term) for `at` from `first`
/// and terms from `term`; zeros beyond `count` and `last`. `along`: terms follow each other in memory, else values do.
template <bool along, class F>
constexpr void load_panel(float* to, int thread, Index first, Index count, Index term, Index last, F const& value) {
  for (Index e = thread; e < tile * panel; e += threads) {
    Index const at = along ? e / panel : e % tile, t = along ? e % panel : e / tile;
    bool const inside = first + at < count && term + t < last;
    to[t * (tile + per_thread) + at] = inside ? value(first + at, term + t) : 0.0f;
  }
}

struct Sums {
  float values[per_thread][per_thread];
};

/// A is a struct with value(product, i, k), B with value(product, k, j); `along_k`: whether values of neighbouring k
/// are neighbours in memory. finish(product, split, i, j, sum) takes each sum, whose terms are added in the order of k.
template <class A, class B, class Finish>
constexpr void multiply(Team const& team, Products const& p, A const& a, B const& b, Finish const& finish) {
  Index const tiles = p.tiles(), across = parts(p.n, tile);
  team.each_block(p.count * p.splits * tiles, [&](Block const& block, Index number) {
    Index const split = remainder(quotient(number, tiles), p.splits), product = quotient(number, tiles * p.splits),
                i0 = quotient(remainder(number, tiles), across) * tile, j0 = remainder(number, across) * tile,
                first = split * p.terms(), last = freestanding::smaller(p.k, first + p.terms());
    float *const left = block.shared, *const right = left + panel * (tile + per_thread);
    PerThread<Sums> sums;
    for (Index k = first; k < last; k += panel) {
      block.each([&](int t) {
        load_panel<A::along_k>(left, t, i0, p.m, k, last,
                               [&](Index i, Index term) { return a.value(product, i, term); });
        load_panel<B::along_k>(right, t, j0, p.n, k, last,
                               [&](Index j, Index term) { return b.value(product, term, j); });
      });
      block.each([&](int t) {
        auto& s = sums[t].values;
        float const *const rows = left + t / (tile / per_thread) * per_thread, *const columns =
                                                                                   right +
                                                                                   t % (tile / per_thread) * per_thread;
        for (Index d = 0; d < panel; ++d) {
          for (Index i = 0; i < per_thread; ++i) {
            for (Index j = 0; j < per_thread; ++j)
              s[i][j] =
                  freestanding::fma(rows[d * (tile + per_thread) + i], columns[d * (tile + per_thread) + j], s[i][j]);
          }
        }
      });
    }
    block.each([&](int t) {
      Index const i1 = i0 + t / (tile / per_thread) * per_thread, j1 = j0 + t % (tile / per_thread) * per_thread;
      for (Index i = 0; i < per_thread && i1 + i < p.m; ++i) {
        for (Index j = 0; j < per_thread && j1 + j < p.n; ++j)
          finish(product, split, i1 + i, j1 + j, sums[t].values[i][j]);
      }
    });
  });
}

/// The same with sums over k cut into parts, which `scratch` takes; finish(product, i, j, sum).
template <class A, class B, class Finish>
constexpr void multiply_split(Team const& team, Products p, A const& a, B const& b, float* scratch,
                              Finish const& finish) {
  p.splits = Products::wanted_splits(p.count, p.m, p.n, p.k);
  Index const size = p.m * p.n;
  if (p.splits == 1) {
    multiply(team, p, a, b, [&](Index product, Index, Index i, Index j, float sum) { finish(product, i, j, sum); });
    return;
  }
  multiply(team, p, a, b, [&](Index product, Index split, Index i, Index j, float sum) {
    scratch[(product * p.splits + split) * size + i * p.n + j] = sum;
  });
  team.each(p.count * size, [&](Index e) {
    Index const product = quotient(e, size), place = remainder(e, size);
    float sum = 0;
    for (Index split = 0; split < p.splits; ++split) sum += scratch[(product * p.splits + split) * size + place];
    finish(product, quotient(place, p.n), remainder(place, p.n), sum);
  });
}
/// What it takes at most, whatever k is.
constexpr Index split_scratch(Index count, Index m, Index n) {
  return Products::wanted_splits(count, m, n, Index{1} << 40) * count * m * n;
}

/// A matrix in memory as an operand: value (i, k) at i * row + k * column.
template <bool along>
struct Matrix {
  static constexpr bool along_k = along;
  float const* data;
  Index row, column;
  constexpr float value(Index, Index i, Index k) const { return data[i * row + k * column]; }
};

}  // namespace coldpress::grid
