// exp, tanh and sigmoid of a vector, within 1.7, 1.7 and 1.9 ulp (1.9 for tanh without FMA); NaN and infinities
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
  Vector const r2 = r * r;  // in the order that is ready first
  Vector const low = fma(r, splat(0.666589587635f), splat(1.00000184017f));
  Vector const high = fma(r2, splat(0.0595622974389f), fma(r, splat(0.12737421695f), splat(0.334367569568f)));
  return fma(r2, fma(high, r2, low), r);
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

/// 1 / (1 + e^-x): with e^-x = 2^(n-1) (2 + p) for n = round(-x / ln 2), one rounding before the quotient's. From
/// -88.8 down it is 0. p = 2 expm1(r) is a minimax polynomial (relative error 2^-28), in the order that is ready first.
COLDPRESS_INLINE Vector sigmoid(Vector x) {
  constexpr float half_powers = detail::rounder + 126;  // its sums, shifted, are the bits of 2^(n-1)
  x = x < -89.f ? splat(-89.f) : x;
  x = x > 87.f ? splat(87.f) : x;
  Vector const t = fma(x, splat(-1.442695041f), splat(half_powers)), n = t - half_powers;
  Vector const r = fma(n, splat(-3.194618495e-5f), fma(n, splat(-0.693115234375f), -x)), r2 = r * r;
  Vector const low = fma(r, splat(0.33333042f), splat(0.9999999f)),
               high = fma(r2, splat(0.0027629079f), fma(r, splat(0.01673749f), splat(0.08333678f)));
  Vector const p = fma(fma(high, r2, low), r2, r + r), power = (Vector)((Mask)t << 23);
  return 1.f / fma(power, p, fma(power, splat(2.f), splat(1.f)));
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
