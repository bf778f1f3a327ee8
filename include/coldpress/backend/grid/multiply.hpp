// Matrix products by blocks of threads.
#pragma once

// A block computes a tile of 64 x 64 sums from panels in shared memory, 4 x 4 per thread, or a tile of 128 x 128 if
// there are enough of these for a whole GPU, or one of 32 x 128 for convolutions of few filters. If there are too few
// tiles for a whole GPU, several blocks compute parts of the same sums, which are added in a second step. Sums that are
// not split add their terms in the same order with any tile; but a block-local product of few rows computes each sum
// from four parts.

#include <coldpress/backend/grid/tile.hpp>

namespace coldpress::grid {

/// `count` products {m, k} {k, n}. Where they are split, each split has a range of the terms.
struct Products {
  Index count, m, n, k;
  Precision precision = Precision::fp32;
  Kind kind = Kind::values;  // of what receives the sums
  Index splits = 1;

  constexpr Index tiles(Index high, Index wide) const { return count * parts(m, high) * parts(n, wide); }
  constexpr Index terms() const { return parts(parts(k, splits), panel) * panel; }  // per split
  // The following functions depend on the shapes alone.
  constexpr bool large() const { return m > 64 && n > 64 && tiles(128, 128) >= enough; }
  constexpr bool flat() const { return precision == Precision::fp32 && m <= 32 && n > 64; }
  /// The number of parts that sums over k are split into, so that there is work for a whole GPU.
  constexpr Index wanted_splits(bool in_flat_tiles = false) const {
    Index const blocks = in_flat_tiles ? tiles(32, 128) : tiles(64, 64),
                most = freestanding::max<Index>(1, parts(k, 8 * panel));
    if (blocks >= enough) return 1;
    Products split = *this;
    split.splits = freestanding::min<Index>(parts(enough, blocks), most);
    return freestanding::max<Index>(1, parts(k, freestanding::max<Index>(1, split.terms())));  // none without terms
  }
  static constexpr Index enough = 128;  // blocks
};
// A split product has fewer than `enough` tiles, and with its parts fewer than twice as many.
static_assert(ThreadGroup::partial_sums_capacity >= 2 * Products::enough * 64 * 64);

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

template <Index high, Index wide, class A, class B, class Finish>
constexpr void multiply_by(ThreadGroup const& thread_group, Products const& p, A const& a, B const& b,
                           Finish const& finish) {
  constexpr Index left_pitch = high + gap, pitch = wide + gap, left_size = panel * left_pitch,
                  size = left_size + panel * pitch, rows_at_once = freestanding::min<Index>(high, 64);
  constexpr bool standard = high == 64 && wide == 64;  // the only tile of block-local products
  constexpr Index room = standard ? apart_shared - 4 * sum_parts : shared_values;
  static_assert(2 * size <= room && rows_at_once * pitch <= room);
  // A block with samples of its own has no other block that could use the threads of missing rows.
  bool const few = standard && thread_group.block_local && p.precision == Precision::fp32 && p.m <= few_rows;
  Index const tiles = parts(p.m, high) * parts(p.n, wide);
  auto const sums_of = [&](Block const& block, Index number) {
    Index const across = parts(p.n, wide), split = remainder(quotient(number, tiles), p.splits),
                product = quotient(number, tiles * p.splits), i0 = quotient(remainder(number, tiles), across) * high,
                j0 = remainder(number, across) * wide, first = split * p.terms(),
                last = freestanding::min(p.k, first + p.terms());
    PerThread<Sums<high, wide>> sums;
    PerThread<Portion<high, A, false>> left;
    PerThread<Portion<wide, B, true, wide * high <= 64 * 64>> right;  // larger tiles have no registers to spare
    auto const read = [&](int t, Index k) {
      left[t].read(a, t, product, i0, p.m, k, last), right[t].read(b, t, product, j0, p.n, k, last);
    };
    auto const write = [&](int t, float* to) { left[t].write(t, to), right[t].write(t, to + left_size); };
    block.each([&](int t) {
      left[t].start(a, t, product, i0, p.m), right[t].start(b, t, product, j0, p.n);
      read(t, first), write(t, block.shared);
    });
    // The next panels replace those before the current ones, which no thread reads any more.
    Index here = 0;
    for (Index k = first; k < last; k += panel, here = size - here) {
      block.each([&](int t) {
        bool const more = k + panel < last;
        if (more) read(t, k + panel);
        sums[t].add(p.precision, few, t, block.shared + here, block.shared + here + left_size);
        if (more) write(t, block.shared + (size - here));
      });
    }
    for (Index row = 0; row < high; row += rows_at_once) {
      block.each([&](int t) {
        sums[t].for_each(p.precision, t, [&](Index i, Index j, float sum) {
          if (i >= row && i < row + rows_at_once) block.shared[(i - row) * pitch + j] = sum;
        });
      });
      block.each([&](int t) {
        for (Index e = t; e < (few ? few_rows : rows_at_once) * wide; e += threads) {
          Index const i = i0 + row + e / wide, j = j0 + e % wide;
          if (i >= p.m || j >= p.n) continue;
          float const* const made = block.shared + e / wide * pitch + e % wide;
          float sum = made[0];
          for (Index quarter = 1; few && quarter < 4; ++quarter) sum += made[quarter * few_rows * pitch];
          finish(product, split, i, j, sum);
        }
      });
    }
  };
  Index const blocks = p.count * p.splits * tiles;
  thread_group.tell({p.count, p.m, p.n, p.k, p.splits, blocks, thread_group.block_local});
  thread_group.each_block(blocks, sums_of, p.kind, (few ? few_rows : high) * wide * p.terms() / assumed::multiply_adds);
}

/// All products of A and B, operands that a Portion can read; finish(product, i, j, sum) receives each sum. `largest`
/// is the largest tile to use, and less than 128 in kernels that need many registers for other things.
template <Index largest = 128, class A, class B, class Finish>
constexpr void multiply(ThreadGroup const& thread_group, Products p, A const& a, B const& b, Finish const& finish) {
  if constexpr (largest > 64) {
    if (p.large())
      return multiply_by<largest, largest>(
          thread_group, p, a, b,
          [&](Index product, Index, Index i, Index j, float sum) { finish(product, i, j, sum); });
  }
  bool const flat = HasInvariant<B> && !thread_group.block_local && p.flat();  // convolutions with few filters
  Index const size = p.m * p.n, splits = thread_group.block_local ? 1 : p.wanted_splits(flat);
  float* const partial = splits > 1 ? thread_group.shared_partial_sums() : nullptr;
  Kind const kind = p.kind;
  p.splits = splits;
  if (splits > 1) p.kind = Kind::values;
  auto const take = [&](Index product, Index split, Index i, Index j, float sum) {
    if (splits == 1) {
      finish(product, i, j, sum);
    } else {
      partial[(product * splits + split) * size + i * p.n + j] = sum;
    }
  };
  if constexpr (HasInvariant<B>) {
    if (flat) multiply_by<32, 128>(thread_group, p, a, b, take);
  }
  if (!flat) multiply_by<64, 64>(thread_group, p, a, b, take);
  if (splits == 1) return;
  auto const add = [&](Index e) {
    Index const product = quotient(e, size), place = remainder(e, size);
    float sum = 0;
    for (Index split = 0; split < splits; ++split) sum += partial[(product * splits + split) * size + place];
    finish(product, quotient(place, p.n), remainder(place, p.n), sum);
  };
  thread_group.each(p.count * size, add, kind);
}

}  // namespace coldpress::grid
