// Products of small matrices on tensor cores, computed by the 32 lanes of a warp together.
#pragma once

// Which lane holds which values is defined in the PTX manual, "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16". A
// host multiplies what all lanes would hold.

#include <coldpress/backend/grid/thread_group.hpp>
#include <coldpress/core/bfloat16.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/precision.hpp>

namespace coldpress::grid {

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#error "coldpress: GPUs from compute capability 8.0 on; set CUDA_ARCHITECTURES of the target, or -arch=sm_80 or later"
#endif

/// The nearest number with 10 bits after the leading one; ties round away from zero, and a NaN stays a NaN.
COLDPRESS_DEVICE inline std::uint32_t tf32_of(float x) {
#if defined __CUDA_ARCH__
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#else
  auto const bits = __builtin_bit_cast(std::uint32_t, x);
  return x == x ? (bits + 0x1000) & ~0x1fffu : bits | 0x400000;
#endif
}
/// Two numbers as bfloat16 in one word.
COLDPRESS_DEVICE inline std::uint32_t bfloat16_pair(float low, float high) {
#if defined __CUDA_ARCH__
  std::uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
#else
  return Bfloat16{low}.bits | static_cast<std::uint32_t>(Bfloat16{high}.bits) << 16;
#endif
}

/// What the lanes of a warp hold of a matrix: on a GPU each lane its own words, on a host the words of all lanes.
template <int words>
struct Fragment {
#if defined __CUDA_ARCH__
  std::uint32_t own[words];
#else
  std::uint32_t held[lanes][words];
#endif
  /// The fragment of the values word(lane, number).
  template <class F>
  static constexpr Fragment of([[maybe_unused]] Index lane, F const& word) {
    Fragment made;
#if defined __CUDA_ARCH__
    for (int n = 0; n < words; ++n) made.own[n] = word(lane, n);
#else
    for (Index each = 0; each < lanes; ++each) {
      for (int n = 0; n < words; ++n) made.held[each][n] = word(each, n);
    }
#endif
    return made;
  }
};

/// The row and column of the n-th of a lane's four sums, among 16 x 8 sums.
constexpr Index mma_row(Index lane, Index n) { return lane / 4 + n / 2 * 8; }
constexpr Index mma_column(Index lane, Index n) { return lane % 4 * 2 + n % 2; }

/// 16 x 8 sums of `depth` terms, from panels in which neighbouring terms are `pitch` floats apart.
template <Precision precision, Index pitch>
struct Mma {
  static constexpr Index depth = precision == Precision::tf32 ? 8 : 16;

  /// 16 rows of the first operand, and 8 columns of the second.
  using Left = Fragment<4>;
  using Right = Fragment<2>;
  static constexpr Left left(float const* panel, Index lane) {
    return Left::of(lane, [&](Index of, int n) { return word(panel + n % 2 * 8, of, n / 2); });
  }
  static constexpr Right right(float const* panel, Index lane) {
    return Right::of(lane, [&](Index of, int n) { return word(panel, of, n); });
  }
  /// Adds to the four sums of a lane.
  static constexpr void add(float* sums, [[maybe_unused]] Index lane, Left const& a, Right const& b) {
#if defined __CUDA_ARCH__
    if constexpr (precision == Precision::tf32) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(a.own[0]), "r"(a.own[1]), "r"(a.own[2]), "r"(a.own[3]), "r"(b.own[0]), "r"(b.own[1]));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(a.own[0]), "r"(a.own[1]), "r"(a.own[2]), "r"(a.own[3]), "r"(b.own[0]), "r"(b.own[1]));
    }
#else
    for (Index n = 0; n < 4; ++n) {
      Index const i = mma_row(lane, n), j = mma_column(lane, n);
      for (Index k = 0; k < depth; ++k) {
        Index const pair = k / in_word, lane_of_row = i % 8 * 4 + pair % 4, lane_of_column = j * 4 + pair % 4;
        sums[n] = freestanding::fma(number(a.held[lane_of_row][i / 8 + pair / 4 * 2], k % in_word),
                                    number(b.held[lane_of_column][pair / 4], k % in_word), sums[n]);
      }
    }
#endif
  }

 private:
  static constexpr Index in_word = depth / 8;  // terms
  /// A lane's word of eight rows or columns, which are adjacent in a panel. Terms may be in any order that is the same
  /// for both operands. The two terms in a word of bfloat16 are 4 apart, so that the lanes read from 32 different banks
  /// of shared memory.
  static constexpr std::uint32_t word(float const* panel, Index lane, Index number) {
    float const* const x = panel + (number * (depth / 2) + lane % 4) * pitch + lane / 4;
    if constexpr (precision == Precision::tf32) {
      return tf32_of(x[0]);
    } else {
      return bfloat16_pair(x[0], x[4 * pitch]);
    }
  }
  static constexpr float number(std::uint32_t word, Index half) {
    if constexpr (in_word == 2) word = half == 0 ? word << 16 : word & 0xffff0000u;
    return __builtin_bit_cast(float, word);
  }
};

}  // namespace coldpress::grid
