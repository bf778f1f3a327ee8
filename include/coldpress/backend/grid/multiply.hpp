// Matrix products by blocks of threads.
#pragma once

// A block computes a tile of 64 x 64 sums from panels in shared memory, 4 x 4 per thread, or a tile of 128 x 128 if
// there are enough of these for a whole GPU. Sums add their terms in the same order with either tile. Only for few
// rows, a block-local product computes each sum from four parts.

#include <coldpress/backend/grid/tile.hpp>

namespace coldpress::grid {

/// `count` products {m, k} {k, n}. Where they are split, each split has a range of the terms.
struct Products {
  Index count, m, n, k;
  Precision precision = Precision::fp32;
  Kind kind = Kind::values;  // of what receives the sums
  Index splits = 1;

  constexpr Index tiles(Index tile) const { return count * splits * parts(m, tile) * parts(n, tile); }
  constexpr Index terms() const { return parts(parts(k, splits), panel) * panel; }  // per split
  // The following functions depend on the shapes alone.
  constexpr bool large() const { return m > 64 && n > 64 && tiles(128) >= enough; }
  /// The number of parts that sums over k are split into, so that there is work for a whole GPU.
  static constexpr Index wanted_splits(Index count, Index m, Index n, Index k) {
    Index const blocks = Products{count, m, n, k}.tiles(64), most = freestanding::max<Index>(1, parts(k, 8 * panel));
    return blocks >= enough ? 1 : freestanding::min<Index>(parts(enough, blocks), most);
  }

 private:
  static constexpr Index enough = 128;  // blocks
};

/// A matrix in memory as an operand: value (i, k) is at i * row + k * column, and either `row` or `column` is 1:
/// `column` if `along`. Each sample, `pitch` floats after the one before, has `matrices` matrices, which are `size`
/// floats apart.
template <bool along>
struct Matrix {
  static constexpr bool along_k = along;
  float const* data;
  Index row, column, matrices = 1, pitch = 0, size = 0;

  constexpr float const* at(Index product, Index i, Index k) const {
    return data + quotient(product, matrices) * pitch + remainder(product, matrices) * size + i * row + k * column;
  }
  constexpr float value(Index product, Index i, Index k) const { return *at(product, i, k); }
  /// Whether every fourth value is at a multiple of 16 bytes.
  constexpr bool by_four() const {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && (row * column | pitch | size) % 4 == 0;
  }
};

template <Index tile, class A, class B, class Finish>
constexpr void multiply_by(ThreadGroup const& thread_group, Products const& p, A const& a, B const& b,
                           Finish const& finish) {
  constexpr Index pitch = tile + gap, size = panel * pitch, rows_at_once = 64;
  constexpr Index room = tile > 64 ? shared_values : apart_shared - 4 * sum_parts;  // block-local products are never
                                                                                    // large
  static_assert(4 * size <= room && rows_at_once * pitch <= room);
  // A block with samples of its own has no other block that could use the threads of missing rows.
  bool const few = tile == 64 && thread_group.block_local && p.precision == Precision::fp32 && p.m <= few_rows;
  auto const sums_of = [&](Block const& block, Index number) {
    Index const across = parts(p.n, tile), tiles = parts(p.m, tile) * across,
                split = remainder(quotient(number, tiles), p.splits), product = quotient(number, tiles * p.splits),
                i0 = quotient(remainder(number, tiles), across) * tile, j0 = remainder(number, across) * tile,
                first = split * p.terms(), last = freestanding::min(p.k, first + p.terms());
    PerThread<Sums<tile>> sums;
    PerThread<Portion<tile, A, false>> left;
    PerThread<Portion<tile, B, true>> right;
    auto const read = [&](int t, Index k) {
      left[t].read(a, t, product, i0, p.m, k, last), right[t].read(b, t, product, j0, p.n, k, last);
    };
    auto const write = [&](int t, float* to) { left[t].write(t, to), right[t].write(t, to + size); };
    block.each([&](int t) { read(t, first), write(t, block.shared); });
    // The next panels replace those before the current ones, which no thread reads any more.
    Index here = 0;
    for (Index k = first; k < last; k += panel, here = 2 * size - here) {
      block.each([&](int t) {
        bool const more = k + panel < last;
        if (more) read(t, k + panel);
        sums[t].add(p.precision, few, t, block.shared + here, block.shared + here + size);
        if (more) write(t, block.shared + (2 * size - here));
      });
    }
    for (Index row = 0; row < tile; row += rows_at_once) {
      block.each([&](int t) {
        sums[t].for_each(p.precision, t, [&](Index i, Index j, float sum) {
          if (i >= row && i < row + rows_at_once) block.shared[(i - row) * pitch + j] = sum;
        });
      });
      block.each([&](int t) {
        for (Index e = t; e < (few ? few_rows : rows_at_once) * tile; e += threads) {
          Index const i = i0 + row + e / tile, j = j0 + e % tile;
          if (i >= p.m || j >= p.n) continue;
          float const* const made = block.shared + e / tile * pitch + e % tile;
          float sum = made[0];
          for (Index quarter = 1; few && quarter < 4; ++quarter) sum += made[quarter * few_rows * pitch];
          finish(product, split, i, j, sum);
        }
      });
    }
  };
  thread_group.tell({p.count, p.m, p.n, p.k, p.splits, p.tiles(tile), thread_group.block_local});
  thread_group.each_block(p.tiles(tile), sums_of, p.kind,
                          (few ? few_rows : tile) * tile * p.terms() / assumed::multiply_adds);
}

/// All products of A and B, operands that a Portion can read; finish(product, split, i, j, sum) receives each sum.
/// `largest` is the largest tile to use, and less than 128 in kernels that need many registers for other things.
template <Index largest = 128, class A, class B, class Finish>
constexpr void multiply(ThreadGroup const& thread_group, Products const& p, A const& a, B const& b,
                        Finish const& finish) {
  if constexpr (largest > 64) {
    if (p.large()) return multiply_by<largest>(thread_group, p, a, b, finish);
  }
  multiply_by<64>(thread_group, p, a, b, finish);
}

/// The same with sums over k split into parts, which are stored in `scratch`; finish(product, i, j, sum) receives each
/// sum. Block-local products are not split.
template <Index largest = 128, class A, class B, class Finish>
constexpr void multiply_split(ThreadGroup const& thread_group, Products p, A const& a, B const& b, float* scratch,
                              Finish const& finish) {
  p.splits = thread_group.block_local ? 1 : Products::wanted_splits(p.count, p.m, p.n, p.k);
  Index const size = p.m * p.n;
  Kind const kind = p.kind;
  if (p.splits > 1) p.kind = Kind::values;
  multiply<largest>(thread_group, p, a, b, [&](Index product, Index split, Index i, Index j, float sum) {
    if (p.splits == 1) {
      finish(product, i, j, sum);
    } else {
      scratch[(product * p.splits + split) * size + i * p.n + j] = sum;
    }
  });
  if (p.splits == 1) return;
  auto const add = [&](Index e) {
    Index const product = quotient(e, size), place = remainder(e, size);
    float sum = 0;
    for (Index split = 0; split < p.splits; ++split) sum += scratch[(product * p.splits + split) * size + place];
    finish(product, quotient(place, p.n), remainder(place, p.n), sum);
  };
  thread_group.each(p.count * size, add, kind);
}
/// The floats that `scratch` needs at most, whatever k is.
constexpr Index split_scratch(Index count, Index m, Index n) {
  return Products::wanted_splits(count, m, n, Index{1} << 40) * count * m * n;
}

}  // namespace coldpress::grid
