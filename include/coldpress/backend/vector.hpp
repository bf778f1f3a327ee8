// The vector layer: the compiler's own vector types at the target's width. Intrinsics appear in no other file.
#pragma once

#include <coldpress/core/bfloat16.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

// Code that depends on the instruction set lives in an inline namespace named after it, so that objects built for
// different instruction sets can be linked into one program.
#if defined COLDPRESS_LEVEL  // a precompiled level of kernels/cpu
#define COLDPRESS_ISA COLDPRESS_LEVEL
#elif defined __AVX512F__
#define COLDPRESS_ISA avx512
#elif defined __AVX2__ && defined __FMA__
#define COLDPRESS_ISA avx2
#elif defined __aarch64__
#define COLDPRESS_ISA neon
#else
#define COLDPRESS_ISA generic
#endif

#define COLDPRESS_INLINE __attribute__((always_inline)) inline
#define COLDPRESS_INLINE_LAMBDA __attribute__((always_inline))
/// Unrolls the loop that follows. Its number of repetitions is a constant, but not a parameter whose type is that of a
/// constant, which g++ does not recognise.
#if defined __clang__
#define COLDPRESS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define COLDPRESS_UNROLL _Pragma("GCC unroll 64")
#endif

namespace coldpress::cpu::inline COLDPRESS_ISA {

#if defined __AVX512F__
inline constexpr int lanes = 16;
#elif defined __AVX2__ && defined __FMA__
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

/// Whether a Vector is in registers. The compiler keeps it in memory otherwise, as on a Cortex-M.
#if defined __SSE2__ || defined __ARM_NEON || defined __ARM_FEATURE_MVE || defined __riscv_vector || defined __ALTIVEC__
inline constexpr bool has_vector_registers = true;
#else
inline constexpr bool has_vector_registers = false;
#endif

typedef float Vector __attribute__((vector_size(4 * lanes)));
typedef std::int32_t Mask __attribute__((vector_size(4 * lanes)));
typedef std::uint32_t Words __attribute__((vector_size(4 * lanes)));

/// A vector for rows of few values: 8 lanes where a Vector has more. It takes half of the execution units and less than
/// half of the time for a division. Elsewhere it is a Vector. The functions below accept both.
#if defined __AVX512F__ && defined __AVX512VL__ && defined __FMA__
typedef float Narrow __attribute__((vector_size(32)));
#else
using Narrow = Vector;
#endif
template <class V>
inline constexpr int lanes_of = sizeof(V) / sizeof(float);
template <class V>
concept is_vector = sizeof(decltype(V{} < V{})) == sizeof(V) && requires(V v) {
  v[0];
};
template <class V>
using MaskOf = decltype(V{} < V{});

template <class V = Vector>
COLDPRESS_INLINE V load(float const* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
/// The floats whose upper halves are at p.
COLDPRESS_INLINE Vector load(Bfloat16 const* p) {
  typedef std::uint16_t Halves __attribute__((vector_size(2 * lanes)));
  Halves halves;
  __builtin_memcpy(&halves, p, sizeof halves);
#if defined __AVX512F__ && !defined __clang__  // gcc would split the conversion of such vectors
  typedef short Shorts __attribute__((vector_size(2 * lanes)));
  return (Vector)(__builtin_ia32_pmovzxwd512_mask((Shorts)halves, Mask{}, static_cast<std::uint16_t>(-1)) << 16);
#elif defined __AVX2__ && defined __FMA__ && !defined __clang__
  typedef short Shorts __attribute__((vector_size(2 * lanes)));
  return (Vector)(__builtin_ia32_pmovzxwd256((Shorts)halves) << 16);
#else
  return (Vector)(__builtin_convertvector(halves, Words) << 16);
#endif
}
template <class V>
COLDPRESS_INLINE void store(float* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

/// v, computed and kept in a register from here on. Otherwise g++ would load a value again for each use, and would
/// compute a value that is used once immediately before that use.
template <class V>
COLDPRESS_INLINE V in_register(V v) {
#if defined __x86_64__ && !defined __clang__
  asm("" : "+v"(v));
#endif
  return v;
}
COLDPRESS_INLINE Vector load_once(float const* p) { return in_register(load(p)); }

/// A vector with x in all lanes. (x + Vector{} would lose the sign of -0.)
template <class V = Vector>
COLDPRESS_INLINE V splat(float x) {
  return x - V{};
}

/// The first lanes of v, or v followed by zeros.
template <class To, class V>
COLDPRESS_INLINE To resize(V v) {
  return [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
    return (To)__builtin_shufflevector(v, V{}, l...);
  }
  (std::make_integer_sequence<int, lanes_of<To>>{});
}

/// The lane numbers 0, 1, 2, ...
COLDPRESS_INLINE Mask lane_numbers() {
  return []<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA { return Mask{l...}; }
  (std::make_integer_sequence<int, lanes>{});
}
/// v, with `fill` in the lanes beyond the end of the row.
template <class V>
COLDPRESS_INLINE V masked(V v, std::ptrdiff_t left, float fill = 0) {
  Mask const inside = lane_numbers() < static_cast<std::int32_t>(left < lanes ? left : lanes);
  return resize<V>(inside ? resize<Vector>(v) : splat(fill));
}

/// The first of the floats whose upper halves are at p. Reads a whole vector.
template <class V>
COLDPRESS_INLINE V load(Bfloat16 const* p) {
  return resize<V>(load(p));
}

/// The first `count` values at p, with zeros in the other lanes. Reads nothing beyond them.
COLDPRESS_INLINE Vector load_partial(float const* p, std::ptrdiff_t count) {
#if defined __AVX512F__
  auto const mask = static_cast<std::uint16_t>((1u << count) - 1);
  return __builtin_ia32_loadups512_mask(p, Vector{}, mask);
#elif defined __AVX2__ && defined __FMA__
  return __builtin_ia32_maskloadps256(reinterpret_cast<Vector const*>(p),
                                      lane_numbers() < static_cast<std::int32_t>(count));
#else
  Vector v{};
  for (int l = 0; l < lanes; ++l) {  // bounded by a constant, because g++ 12 would warn of lanes that do not exist
    if (l < count) v[l] = p[l];
  }
  return v;
#endif
}
/// The values [begin, end) at p in their lanes, with zeros in the others. Reads nothing else. `begin` may be less than
/// 0, and `end` more than the lanes.
COLDPRESS_INLINE Vector load_between(float const* p, std::ptrdiff_t begin, std::ptrdiff_t end) {
  auto const lane = [](std::ptrdiff_t n) COLDPRESS_INLINE_LAMBDA {
    return static_cast<std::int32_t>(n < 0 ? 0 : n < lanes ? n : lanes);
  };
#if defined __AVX512F__
  auto const mask = static_cast<std::uint16_t>(((1u << lane(end)) - 1) & -(1u << lane(begin)));
  return __builtin_ia32_loadups512_mask(p, Vector{}, mask);
#elif defined __AVX2__ && defined __FMA__
  return __builtin_ia32_maskloadps256(reinterpret_cast<Vector const*>(p),
                                      (lane_numbers() >= lane(begin)) & (lane_numbers() < lane(end)));
#else
  Vector v{};
  for (int l = 0; l < lanes; ++l) {
    if (l >= lane(begin) && l < lane(end)) v[l] = p[l];
  }
  return v;
#endif
}
COLDPRESS_INLINE Vector load_partial(Bfloat16 const* p, std::ptrdiff_t count) {
  Bfloat16 some[lanes] = {};
  __builtin_memcpy(some, p, static_cast<std::size_t>(count) * sizeof *p);
  return load(some);
}
COLDPRESS_INLINE void store_partial(float* p, Vector v, std::ptrdiff_t count) {
#if defined __AVX512F__
  auto const mask = static_cast<std::uint16_t>((1u << count) - 1);
  __builtin_ia32_storeups512_mask(p, v, mask);
#elif defined __AVX2__ && defined __FMA__
  __builtin_ia32_maskstoreps256(reinterpret_cast<Vector*>(p), lane_numbers() < static_cast<std::int32_t>(count), v);
#else
  for (int l = 0; l < lanes; ++l) {
    if (l < count) p[l] = v[l];
  }
#endif
}
/// Like load and store where a whole vector is left in the row, else like load_partial and store_partial. The first is
/// expected: otherwise compilers jump there and back for each vector, which took a pass that adds values in the cache
/// half of its time (a Zen 3).
template <class V = Vector>
COLDPRESS_INLINE V load_row(float const* p, std::ptrdiff_t left) {
  return __builtin_expect(left >= lanes_of<V>, true) ? load<V>(p) : resize<V>(load_partial(p, left));
}
template <class V>
COLDPRESS_INLINE void store_row(float* p, V v, std::ptrdiff_t left) {
  __builtin_expect(left >= lanes_of<V>, true) ? store(p, v) : store_partial(p, resize<Vector>(v), left);
}

#if defined __FMA__ || defined __aarch64__
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

/// a * b + c, rounded once where the target supports it. It is the only place where a product meets a sum, so that no
/// compiler flag and no control flow can change the bits.
template <class V>
COLDPRESS_INLINE V fma(V a, V b, V c) {
#if defined __AVX512F__
  if constexpr (lanes_of<V> == lanes) {
    return __builtin_ia32_vfmaddps512_mask(a, b, c, static_cast<std::uint16_t>(-1), 4);
  } else {
    return __builtin_ia32_vfmaddps256(a, b, c);
  }
#elif defined __AVX2__ && defined __FMA__
  return __builtin_ia32_vfmaddps256(a, b, c);
#elif defined __FMA__
  return __builtin_ia32_vfmaddps(a, b, c);
#elif defined __aarch64__ && !defined __clang__
  return __builtin_aarch64_fmav4sf(a, b, c);
#elif defined __aarch64__ && __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
#if defined __aarch64__
#pragma clang fp contract(fast)  // for clang 16 and older
#endif
  return a * b + c;
#endif
}

/// Without fused multiply-add, a product is rounded before it is added. A small factor then makes a denormal number,
/// with which processors take longer. Therefore the layers of streams take values below this as zero before multiplying
/// them, so that products with weights of at least 2^-66 are zero or normal numbers.
inline constexpr float smallest_factor = 0x1p-60f;
/// Replaces values whose magnitude is below `smallest` by zero. NaN stays NaN.
template <class V>
COLDPRESS_INLINE V flush_small(V v, V smallest) {
  using Bits = MaskOf<V>;
  V const magnitude = (V)((Bits)v & (Bits{} + INT32_MAX));
  return (V)((Bits)v & ~(magnitude < smallest));
}

/// The correctly rounded square root.
COLDPRESS_INLINE Vector sqrt(Vector x) {
#if defined __AVX512F__ && defined __clang__
  return __builtin_ia32_sqrtps512(x, 4);
#elif defined __AVX512F__
  return __builtin_ia32_sqrtps512_mask(x, Vector{}, static_cast<std::uint16_t>(-1), 4);
#elif defined __AVX2__ && defined __FMA__
  return __builtin_ia32_sqrtps256(x);
#elif defined __SSE__
  return __builtin_ia32_sqrtps(x);
#else
  for (int l = 0; l < lanes; ++l) x[l] = __builtin_sqrtf(x[l]);
  return x;
#endif
}

/// at_least: v where it is above `least` or NaN, else `least`; at_most likewise. (For v > least ? v : least, g++ would
/// generate a comparison and a blend, which take three times as long.)
template <class V>
requires is_vector<V> COLDPRESS_INLINE V at_least(V v, V least) {
#if defined __AVX512F__ && defined __clang__
  if constexpr (sizeof(V) == 64) return __builtin_ia32_maxps512(least, v, 4);
#elif defined __AVX512F__
  if constexpr (sizeof(V) == 64) return __builtin_ia32_maxps512_mask(least, v, V{}, static_cast<std::uint16_t>(-1), 4);
#endif
#if defined __AVX2__ && defined __FMA__
  if constexpr (sizeof(V) == 32) return __builtin_ia32_maxps256(least, v);
#endif
#if defined __SSE__
  if constexpr (sizeof(V) == 16) return __builtin_ia32_maxps(least, v);
#endif
  return v < least ? least : v;
}
template <class V>
requires is_vector<V> COLDPRESS_INLINE V at_least(V v, float least) { return at_least(v, splat<V>(least)); }
template <class V>
requires is_vector<V> COLDPRESS_INLINE V at_most(V v, V most) {
#if defined __AVX512F__ && defined __clang__
  if constexpr (sizeof(V) == 64) return __builtin_ia32_minps512(most, v, 4);
#elif defined __AVX512F__
  if constexpr (sizeof(V) == 64) return __builtin_ia32_minps512_mask(most, v, V{}, static_cast<std::uint16_t>(-1), 4);
#endif
#if defined __AVX2__ && defined __FMA__
  if constexpr (sizeof(V) == 32) return __builtin_ia32_minps256(most, v);
#endif
#if defined __SSE__
  if constexpr (sizeof(V) == 16) return __builtin_ia32_minps(most, v);
#endif
  return v > most ? most : v;
}
template <class V>
requires is_vector<V> COLDPRESS_INLINE V at_most(V v, float most) { return at_most(v, splat<V>(most)); }

/// Whether a vector can be made of 16 numbers that are in registers, chosen by the numbers of its lanes.
#if defined __AVX512F__
inline constexpr bool looks_up = true;
#else
inline constexpr bool looks_up = false;
#endif
/// The elements of a table that the lowest four bits of `numbers` say. Only where vectors look up.
template <class V>
COLDPRESS_INLINE V look_up([[maybe_unused]] float const (&table)[16], [[maybe_unused]] MaskOf<V> numbers) {
#if defined __AVX512F__
  if constexpr (lanes_of<V> < lanes) {
#if defined __clang__
    return __builtin_ia32_vpermi2varps256(load<V>(table), numbers, load<V>(table + 8));
#else
    return __builtin_ia32_vpermt2varps256_mask(numbers, load<V>(table), load<V>(table + 8),
                                               static_cast<std::uint8_t>(-1));
#endif
  } else {
#if defined __clang__
    return __builtin_ia32_permvarsf512(load(table), numbers);
#else
    return __builtin_ia32_permvarsf512_mask(load(table), numbers, Vector{}, static_cast<std::uint16_t>(-1));
#endif
  }
#else
  static_assert(sizeof(V) == 0, "look_up: this instruction set has none");
#endif
}

/// The largest of several values and its number. Of equal values the first counts; a NaN wins, the first of them.
struct Largest {
  Vector value;
  Mask number;

  /// Replaces the value if `next` is larger. The numbers of `next` are higher.
  COLDPRESS_INLINE void take(Largest const& next) {
#if defined __AVX512F__ && !defined __clang__  // g++ negates masks one by one
    auto const larger = __builtin_ia32_cmpps512_mask(next.value, value, 6, static_cast<std::uint16_t>(-1), 4),
               takes = __builtin_ia32_cmpps512_mask(value, value, 7, larger, 4);
    value = __builtin_ia32_blendmps_512_mask(value, next.value, takes);
    number = (Mask)__builtin_ia32_blendmd_512_mask(number, next.number, takes);
#else
    Mask const takes = (value == value) & ~(next.value <= value);
    value = takes ? next.value : value;
    number = takes ? next.number : number;
#endif
  }
};

/// Calls f(constant 0) ... f(constant N - 1).
template <int N, class F>
COLDPRESS_INLINE void for_constants(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) COLDPRESS_INLINE_LAMBDA {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// The lower or the upper half of a[0], b[0], a[1], b[1], ...
template <int half>
COLDPRESS_INLINE Vector interleave(Vector a, Vector b) {
  return [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
    return __builtin_shufflevector(a, b, (l / 2 + l % 2 * lanes + half * lanes / 2)...);
  }
  (std::make_integer_sequence<int, lanes>{});
}
/// A vector whose upper half is `distance` floats after its lower half.
COLDPRESS_INLINE Vector load_halves(float const* p, std::ptrdiff_t distance) {
  typedef float Half __attribute__((vector_size(2 * lanes)));
  Half low, high;
  __builtin_memcpy(&low, p, sizeof low);
  __builtin_memcpy(&high, p + distance, sizeof high);
  return [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
    return __builtin_shufflevector(low, high, l...);
  }
  (std::make_integer_sequence<int, lanes>{});
}
/// Every second value of a and then b, starting with the first or the second.
template <int first>
COLDPRESS_INLINE Vector every_second(Vector a, Vector b) {
  return [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
    return __builtin_shufflevector(a, b, (2 * l + first)...);
  }
  (std::make_integer_sequence<int, lanes>{});
}

namespace detail {
template <int distance, class V>
COLDPRESS_INLINE V rotate(V v) {
  return [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
    return __builtin_shufflevector(v, v, ((l + distance) % lanes_of<V>)...);
  }
  (std::make_integer_sequence<int, lanes_of<V>>{});
}
template <class V, class Combine>
COLDPRESS_INLINE float reduce(V v, Combine combine) {
  if constexpr (4 < lanes_of<V>) {
    typedef float Half __attribute__((vector_size(sizeof(V) / 2)));
    return reduce(combine(resize<Half>(v), resize<Half>(rotate<lanes_of<Half>>(v))), combine);
  } else {
    v = combine(v, rotate<2>(v));
    v = combine(v, rotate<1>(v));
    return v[0];
  }
}
}  // namespace detail

COLDPRESS_INLINE void zero(float* to, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += lanes) store_row(to + i, Vector{}, n - i);
}

/// The sum and the maximum of all lanes, each by a fixed tree of halves. The maximum is NaN if any lane is.
template <class V>
COLDPRESS_INLINE float sum(V v) {
  return detail::reduce(v, [](auto a, auto b) COLDPRESS_INLINE_LAMBDA { return a + b; });
}
/// The larger value in each lane, or NaN where either is NaN. Of two zeros with different signs it is -0.
template <class V>
COLDPRESS_INLINE V maximum(V a, V b) {
  // The two differ where one of a and b is NaN, or in the sign of zero.
  return (V)((MaskOf<V>)at_least(a, b) | (MaskOf<V>)at_least(b, a));
}
COLDPRESS_INLINE float maximum(Vector v) {
  return detail::reduce(v, [](auto a, auto b) COLDPRESS_INLINE_LAMBDA { return maximum(a, b); });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
