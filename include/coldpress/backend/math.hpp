// exp, tanh and sigmoid of a vector, within 1.7, 1.9 and 2.7 ulp (2.2 for tanh without FMA); NaN and infinities
// propagate.
#pragma once

#include <coldpress/backend/vector.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace detail {

inline constexpr float rounder = 12582912.f;  // 1.5 * 2^23: adding it leaves a rounded integer in the low bits

/// (e^(2a) / 2^n - 1) / 2 for n = floor(2a / ln 2): with r = a - n ln(2)/2 in [0, ln(2)/2] it is r + r^2 q(r), q a
/// minimax polynomial of degree 4 (relative error 2^-26, by Remez exchange).
COLDPRESS_INLINE Vector half_expm1(Vector a, Vector n) {
  Vector const r = fma(n, splat(-1.597309247e-5f), fma(n, splat(-0.3465576171875f), a));  // the first product is exact
  Vector q = fma(splat(0.0595622974389f), r, splat(0.12737421695f));
  q = fma(q, r, splat(0.334367569568f));
  q = fma(q, r, splat(0.666589587635f));
  return fma(r * r, fma(q, r, splat(1.00000184017f)), r);
}

COLDPRESS_INLINE Vector power_of_two(Mask exponent) { return (Vector)((exponent + 127) << 23); }

}  // namespace detail

COLDPRESS_INLINE Vector exp(Vector x) {
  x = x < -104.f ? splat(-104.f) : x;
  x = x > 89.f ? splat(89.f) : x;
  Vector const t = fma(x, splat(1.442695041f), splat(-0.5f)) + detail::rounder;
  Vector const p = detail::half_expm1(x * 0.5f, t - detail::rounder);
  Mask const n = (Mask)t - (Mask)splat(detail::rounder), half = n >> 1;
  return fma(p, splat(2.f), splat(1.f)) * detail::power_of_two(half) *
         detail::power_of_two(n - half);  // two steps: subnormals
}

COLDPRESS_INLINE Vector tanh(Vector x) {
  Mask const sign = (Mask)x & (Mask{} + INT32_MIN);
  Vector a = (Vector)((Mask)x ^ sign);
  a = a > 9.02f ? splat(9.02f) : a;  // rounds to 1 from here on
  Vector const t = fma(a, splat(2.885390082f), splat(-0.5f)) + detail::rounder;
  Vector const p = detail::half_expm1(a, t - detail::rounder);
  Vector const scale = (Vector)(((Mask)t << 23) + 0x3f800000);
  Vector const h = fma(scale, p, fma(scale, splat(0.5f), splat(-0.5f)));  // expm1(2a) / 2
  Vector const y = h / (h + 1.f);
  Vector const exact = h < 0.5f ? fma(-h, y, h) : y;  // the same value with less rounding where h is small
  return (Vector)((Mask)exact | sign);
}

/// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x: small results keep their precision.
COLDPRESS_INLINE Vector sigmoid(Vector x) {
  Vector const minus_magnitude = (Vector)((Mask)x | (Mask{} + INT32_MIN));
  Vector const e = exp(minus_magnitude);
  return (x < 0.f ? e : splat(1.f)) / (e + 1.f) + (x == x ? Vector{} : x);
}

namespace detail {
struct WideMultiplyLanes {
  COLDPRESS_INLINE void operator()(Words a, std::uint32_t b, Words& high, Words& low) const {
    typedef std::uint64_t Wide __attribute__((vector_size(8 * lanes)));
    Wide const product = __builtin_convertvector(a, Wide) * std::uint64_t{b};
    high = __builtin_convertvector(product >> 32, Words);
    low = __builtin_convertvector(product, Words);
  }
};
}  // namespace detail

}  // namespace coldpress::cpu::inline COLDPRESS_ISA

namespace coldpress {

template <>
struct Math<cpu::Vector> {
  static COLDPRESS_INLINE cpu::Vector exp(cpu::Vector x) { return cpu::exp(x); }
  static COLDPRESS_INLINE cpu::Vector tanh(cpu::Vector x) { return cpu::tanh(x); }
  static COLDPRESS_INLINE cpu::Vector sigmoid(cpu::Vector x) { return cpu::sigmoid(x); }
  static COLDPRESS_INLINE cpu::Vector sqrt(cpu::Vector x) { return cpu::sqrt(x); }
  static COLDPRESS_INLINE cpu::Vector fma(cpu::Vector a, cpu::Vector b, cpu::Vector c) { return cpu::fma(a, b, c); }
  /// The words of features at.column, at.column + 1, ...; at.column is a multiple of the number of lanes.
  static COLDPRESS_INLINE cpu::Words random(std::uint64_t key, At at) {
    auto const column = static_cast<std::uint32_t>(at.column);
    cpu::Words const zero{}, position = (cpu::Words)cpu::lane_numbers() + (column / 64 * 16 + column % 16);
    return philox<cpu::Words>(
               {{position, zero + static_cast<std::uint32_t>(at.row), zero + static_cast<std::uint32_t>(at.step),
                 zero + static_cast<std::uint32_t>(at.step >> 32)}},
               key, cpu::detail::WideMultiplyLanes{})
        .words[column / 16 % 4];
  }
};

}  // namespace coldpress
