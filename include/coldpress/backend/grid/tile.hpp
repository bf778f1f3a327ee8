// What a block does for a tile of a matrix product: it copies panels of the operands to shared memory, and sums.
#pragma once

#include <coldpress/backend/grid/mma.hpp>

#include <concepts>

namespace coldpress::grid {

/// The number of terms of a panel. Neighbouring terms are `gap` floats more than a tile apart in shared memory. The
/// values that a warp reads at once are then in 32 different banks, and four adjacent values can be read as one.
inline constexpr Index panel = 16, gap = 8;

/// Row, column and term numbers in kernels have 32 bits, which takes fewer registers.
using Index32 = std::uint32_t;

/// Four values at a multiple of 16 bytes.
COLDPRESS_DEVICE inline void read_four(float const* from, float* to) {
#if defined __CUDA_ARCH__
  float4 const all = *reinterpret_cast<float4 const*>(from);
  to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
#else
  for (int n = 0; n < 4; ++n) to[n] = from[n];
#endif
}

/// An operand from which four adjacent values can be read as one.
template <class Operand>
concept ReadByFour = requires(Operand const& operand) {
  { operand.by_four() } -> std::same_as<bool>;
};

/// An operand of which a part can be computed once for each `at` (see Portion), whatever the term.
template <class Operand>
concept HasInvariant = requires {
  typename Operand::Invariant;
};
struct NoInvariant {};
template <class Operand>
struct InvariantOf {
  using Type = NoInvariant;
};
template <HasInvariant Operand>
struct InvariantOf<Operand> {
  using Type = typename Operand::Invariant;
};

/// The part of a panel of an operand that one thread copies. The thread reads its part of the next panel while it adds
/// products of this one. The first operand is a struct with value(product, at, term), the second with value(product,
/// term, at), where `at` is a row or a column of the tile. `along_k` says whether neighbouring terms are adjacent in
/// memory; otherwise neighbouring `at` are, and a thread needs a single one of them: an operand may then have
/// invariant(product, at) and value(that, term) instead.
/// `keeps` says whether there are registers for that.
template <Index tile, class Operand, bool second, bool keeps = true>
struct Portion {
  static constexpr Index32 count = tile * panel / threads;
  float values[count];
  std::conditional_t<keeps, typename InvariantOf<Operand>::Type, NoInvariant> invariant;

  /// Called before the first panel of a tile that begins at `first`.
  constexpr void start(Operand const& operand, Index32 thread, Index32 product, Index32 first, Index32 size) {
    if constexpr (keeps && HasInvariant<Operand>) {
      static_assert(!along && wide == 1 && threads % tile == 0);
      Index32 const at = first + place_of(thread, 0).at;
      if (at < size) invariant = operand.invariant(product, at);
    }
  }
  /// Reads `at` from `first` on and terms from `term` on, with zeros beyond `size` and `last`.
  constexpr void read(Operand const& operand, Index32 thread, Index32 product, Index32 first, Index32 size,
                      Index32 term, Index32 last) {
    COLDPRESS_UNROLL_ON_GPU
    for (Index32 n = 0; n < count; n += wide) {
      Place const place = place_of(thread, n);
      Index32 const at = first + place.at, t = term + place.term;
      if constexpr (wide == 4) {
        if (operand.by_four() && at + next_at * 3 < size && t + next_term * 3 < last) {
          read_four(second ? operand.at(product, t, at) : operand.at(product, at, t), values + n);
          continue;
        }
      }
      COLDPRESS_UNROLL_ON_GPU
      for (Index32 c = 0; c < wide; ++c) {
        Index32 const i = at + c * next_at, k = t + c * next_term;
        float value = 0;
        if (i < size && k < last) {
          if constexpr (keeps && HasInvariant<Operand>) {
            value = operand.value(invariant, k);
          } else if constexpr (HasInvariant<Operand>) {
            value = operand.value(operand.invariant(product, i), k);
          } else {
            value = second ? operand.value(product, k, i) : operand.value(product, i, k);
          }
        }
        values[n + c] = value;
      }
    }
  }
  constexpr void write(Index32 thread, float* panel_of_tile) const {
    COLDPRESS_UNROLL_ON_GPU
    for (Index32 n = 0; n < count; n += wide) {
      Place const place = place_of(thread, n);
      float* const to = panel_of_tile + place.term * (tile + gap) + place.at;
      COLDPRESS_UNROLL_ON_GPU
      for (Index32 c = 0; c < wide; ++c) to[c * (next_term * (tile + gap) + next_at)] = values[n + c];
    }
  }

 private:
  static constexpr bool along = Operand::along_k;
  static constexpr Index32 wide = ReadByFour<Operand> ? 4 : 1;
  static_assert(count % wide == 0);
  static constexpr Index32 next_at = along ? 0 : 1, next_term = along ? 1 : 0;
  struct Place {
    Index32 at, term;
  };
  /// Neighbouring threads read adjacent memory: 32 bytes of terms, the smallest unit that memory delivers.
  static constexpr Place place_of(Index32 thread, Index32 n) {
    Index32 const e = thread + n / wide * threads;
    constexpr Index32 size = tile, across = size / wide, together = 8 / wide;
    if constexpr (!along) return {e % across * wide, e / across};
    return {e / together % size, (e % together + e / (together * size) * together) * wide};
  }
};

/// The number of rows of a tile for which a quarter of the threads suffices.
inline constexpr Index few_rows = 16, few_threads = threads / 4;

/// The sums that one thread computes in a tile of `high` x `wide` sums: squares of 4 x 4, as many as it takes.
template <Index high, Index wide>
struct Sums {
  static constexpr Index threads_across = high < wide ? 32 : 16, threads_down = threads / threads_across;
  static constexpr Index rows = high / threads_down, columns = wide / threads_across;
  static_assert(rows % 4 == 0 && columns % 4 == 0);
  float values[rows * columns];

  /// Adds the products of two panels in the order of their terms. `few` says that there are at most 16 rows: then each
  /// quarter of the threads has all rows and a quarter of the terms.
  constexpr void add(Precision precision, bool few, Index thread, float const* left, float const* right) {
    if (precision == Precision::fp32) {
      constexpr Index quarter = panel / 4;
      Index const first = few ? thread / few_threads * quarter : 0;
      add_each(left + thread % (few ? few_threads : threads) / threads_across * 4, right + thread % threads_across * 4,
               first, few ? first + quarter : panel);
    } else if constexpr (high == wide) {
      if (precision == Precision::tf32) {
        add_by_warps<Precision::tf32>(thread, left, right);
      } else {
        add_by_warps<Precision::bf16>(thread, left, right);
      }
    }
  }
  /// f(row, column, sum)
  template <class F>
  constexpr void for_each(Precision precision, Index thread, F const& f) const {
    if (precision == Precision::fp32) {
      COLDPRESS_UNROLL_ON_GPU
      for (Index n = 0; n < rows * columns; ++n)
        f(thread / threads_across * 4 + place(n / columns), thread % threads_across * 4 + place(n % columns),
          values[n]);
    } else if constexpr (high == wide) {
      Index const lane = thread % lanes, down = first_row(thread), across = first_column(thread);
      COLDPRESS_UNROLL_ON_GPU
      for (Index n = 0; n < rows * columns; ++n) {
        f(down + n / 4 / fits * 16 + mma_row(lane, n % 4), across + n / 4 % fits * 8 + mma_column(lane, n % 4),
          values[n]);
      }
    }
  }

 private:
  /// A thread has squares of 4 x 4 sums, 64 apart, so that neighbouring threads read adjacent memory.
  static constexpr Index place(Index n) { return n / 4 * 64 + n % 4; }
  constexpr void add_each(float const* left, float const* right, Index first, Index last) {
    constexpr Index at_once = 64 / (rows * columns);  // terms: enough multiply-adds to hide the reading of the next
    for (Index d = first; d < last; d += at_once) {
      COLDPRESS_UNROLL_ON_GPU
      for (Index c = 0; c < at_once; ++c) {
        float of_row[rows], of_column[columns];
        COLDPRESS_UNROLL_ON_GPU
        for (Index n = 0; n < rows; ++n) of_row[n] = left[(d + c) * (high + gap) + place(n)];
        COLDPRESS_UNROLL_ON_GPU
        for (Index n = 0; n < columns; ++n) of_column[n] = right[(d + c) * (wide + gap) + place(n)];
        COLDPRESS_UNROLL_ON_GPU
        for (Index n = 0; n < rows * columns; ++n)
          values[n] = freestanding::fma(of_row[n / columns], of_column[n % columns], values[n]);
      }
    }
  }
  /// The eight warps are 2 x 4, and each computes `fits` x `fits` products of tensor cores.
  static constexpr Index fits = wide / 32;
  static constexpr Index first_row(Index thread) { return thread / lanes / 4 * (wide / 2); }
  static constexpr Index first_column(Index thread) { return thread / lanes % 4 * (wide / 4); }
  template <Precision precision>
  constexpr void add_by_warps(Index thread, float const* left, float const* right) {
    using M = Mma<precision, wide + gap>;
    Index const lane = thread % lanes;
    left += first_row(thread), right += first_column(thread);
    for (Index d = 0; d < panel; d += M::depth) {
      typename M::Left a[fits];
      typename M::Right b[fits];
      COLDPRESS_UNROLL_ON_GPU
      for (Index n = 0; n < fits; ++n) {
        a[n] = M::left(left + d * (wide + gap) + n * 16, lane);
        b[n] = M::right(right + d * (wide + gap) + n * 8, lane);
      }
      COLDPRESS_UNROLL_ON_GPU
      for (Index n = 0; n < fits * fits; ++n) M::add(values + n * 4, lane, a[n / fits], b[n % fits]);
    }
  }
};

}  // namespace coldpress::grid
