// Numbers that are split into parts of few sizes, each of which has kernels of its own.
#pragma once

// A total is a run-time number, a constant, or one of the values that the compiler knows; only the sizes of parts that
// may occur are compiled.

#include <coldpress/backend/vector.hpp>
#include <coldpress/core/executor.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

template <int n>
using Int = std::integral_constant<int, n>;

constexpr int vectors(Index columns) { return static_cast<int>((columns + lanes - 1) / lanes); }
template <Index n>
constexpr auto vectors(Fixed<n>) {
  return Fixed<vectors(n)>{};
}

/// A range of the parts of a split.
struct Parts {
  Index first = 0, last = PTRDIFF_MAX;
};
using coldpress::parts_of;
/// Where a part of such a split starts.
constexpr Index start_of(Index part, Index total, Index most) {
  Index const parts = parts_of(total, most), size = total / parts;
  return part * size + freestanding::min(part, total - parts * size);
}

/// The values that a number may have, for instance the rows of a product in all convolutions of a network; or any
/// value, if there are more than `most`.
struct Sizes {
  static constexpr int most = 8;
  Index list[most] = {};  // in order
  int count = 0;

  static constexpr Sizes any() { return {{}, most + 1}; }
  constexpr bool unknown() const { return count > most; }
  constexpr void add(Index size) {
    if (unknown() || size == 0) return;
    int at = 0;
    while (at < count && list[at] < size) ++at;
    if (at < count && list[at] == size) return;
    if (count == most) {
      *this = any();
      return;
    }
    for (int i = count++; i > at; --i) list[i] = list[i - 1];
    list[at] = size;
  }
  /// The sizes of the parts of a split into parts of at most `largest`: bit n - 1 is set if there may be parts of n.
  constexpr unsigned sizes_of_parts(int largest) const {
    unsigned sizes = unknown() ? (1u << largest) - 1 : 0;
    for (int i = 0; i < count && !unknown(); ++i) {
      Index const n = parts_of(list[i], largest), size = parts_of(list[i], n);
      sizes |= 1u << (size - 1);
      if (n * size > list[i]) sizes |= 1u << (size - 2);
    }
    return sizes;
  }
};
/// A number that has one of these values.
template <Sizes sizes>
struct OneOf {
  Index number;
  constexpr operator Index() const { return number; }
};
template <Sizes sizes>
constexpr auto vectors(OneOf<sizes> columns) {
  constexpr Sizes all = [] {
    Sizes vectors = sizes.unknown() ? Sizes::any() : Sizes{};
    for (int i = 0; i < sizes.count && !sizes.unknown(); ++i) vectors.add(cpu::vectors(sizes.list[i]));
    return vectors;
  }();
  return OneOf<all>{cpu::vectors(columns.number)};
}

/// Whether n is 1, as a constant if n is one.
template <Index n>
constexpr auto is_one(Fixed<n>) {
  return std::bool_constant<n == 1>{};
}
constexpr bool is_one(Index n) { return n == 1; }

/// Whether n is at most `most`, as a constant if both are.
template <Index n, Index most>
constexpr auto at_most(Fixed<n>, Fixed<most>) {
  return std::bool_constant<n <= most>{};
}
constexpr bool at_most(Index n, Index most) { return n <= most; }

/// Calls f() if the condition holds, and g() otherwise. If the condition is a constant, only that call is compiled. The
/// callers' lambdas take (auto...), so that they are templates, and the other one is not even instantiated.
template <class Condition, class F, class G>
COLDPRESS_INLINE void either(Condition condition, F f, G g) {
  if constexpr (std::is_same_v<Condition, std::true_type>) {
    f();
  } else if constexpr (std::is_same_v<Condition, std::false_type>) {
    g();
  } else {
    condition ? f() : g();
  }
}

/// Stops the program if kernels for parts of this size are not compiled: a part must not be left out in silence.
template <int most, Sizes totals>
COLDPRESS_INLINE void check_part(Index size) {
  if constexpr (!totals.unknown()) {
    if ((totals.sizes_of_parts(most) >> (size - 1) & 1) == 0) __builtin_trap();
  }
}

/// Splits `total` into the fewest parts of at most `most`, with sizes that differ by at most one so that no part is
/// very small, and calls f(first, Int<size>) for each of them, or for those in `some`. Where the compiler knows the
/// total, or which totals there may be, only the sizes that occur are instantiated.
template <int most, Index total, class F>
COLDPRESS_INLINE void split(Fixed<total>, F f, Parts some = {}) {
  constexpr Index parts = parts_of(total, most);
  constexpr int size = (total + parts - 1) / parts;
  constexpr Index large = total - (size - 1) * parts;
  for (Index i = freestanding::max<Index>(some.first, 0); i < freestanding::min(some.last, large); ++i)
    f(i * size, Int<size>{});
  if constexpr (large < parts) {
    for (Index i = freestanding::max(some.first, large); i < freestanding::min(some.last, parts); ++i)
      f(large + i * (size - 1), Int<size - 1>{});
  }
}
template <int most, Sizes sizes, class F>
COLDPRESS_INLINE void split(OneOf<sizes> one, F f, Parts some = {}) {
  Index const total = one;
  if (total == 0) return;
  Index const parts = parts_of(total, most), size = parts == 1 ? total : parts_of(total, parts);  // a division is slow
  Index const large = total - (size - 1) * parts;
  check_part<most, sizes>(size);
  if (large < parts) check_part<most, sizes>(size - 1);
  for (Index turn = 0; turn < 2; ++turn) {
    Index const before = turn * large, end = freestanding::min(some.last, turn ? parts : large);
    for_constants<most>([&](auto i) COLDPRESS_INLINE_LAMBDA {
      if constexpr ((sizes.sizes_of_parts(most) >> i & 1) != 0) {
        if (size - turn == i + 1) {
          for (Index n = freestanding::max(some.first, before); n < end; ++n) f(before + n * (i + 1), Int<i + 1>{});
        }
      }
    });
  }
}
template <int most, class F>
COLDPRESS_INLINE void split(Index total, F f, Parts some = {}) {
  split<most>(OneOf<Sizes::any()>{total}, f, some);
}

/// The same for an f that is given the sizes as numbers.
template <int most, class F>
void split_at_run_time(Index total, F f) {
  Index const parts = parts_of(total, most);
  for (Index part = 0; part < parts; ++part) {
    Index const first = start_of(part, total, most);
    f(first, start_of(part + 1, total, most) - first);
  }
}

/// Calls f(Int<n>) with the n from 1 to `most` that `size` is, which is that of a part of one of the totals.
template <int most, Sizes totals, class F>
COLDPRESS_INLINE void with_size_of_part(Index size, F f) {
  check_part<most, totals>(size);
  for_constants<most>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    if constexpr ((totals.sizes_of_parts(most) >> i & 1) != 0) {
      if (size == i + 1) f(Int<i + 1>{});
    }
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
