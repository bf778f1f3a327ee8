// The functions of Math<T> for vectors of floats.
#pragma once

// Each is accurate to the number of ulp that tests/backend/math.cpp demands; NaN and infinities propagate. Polynomials
// are minimax (Remez exchange) and are evaluated in the order that has the shortest latency.

#include <coldpress/backend/lookup_tables.hpp>
#include <coldpress/core/pointwise.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace detail {

/// (e^(2a) / 2^n - 1) / 2 for n = floor(2a / ln 2): with r = a - n ln(2)/2 in [0, ln(2)/2] it is r + r^2 q(r), q a
/// polynomial of degree 4 (relative error 2^-26).
COLDPRESS_INLINE Vector half_expm1(Vector a, Vector n) {
  Vector const r = fma(n, splat(-1.597309247e-5f), fma(n, splat(-0.3465576171875f), a));  // the first product is exact
  Vector const r2 = r * r;
  Vector const low = fma(r, splat(0.666589587635f), splat(1.00000184017f));
  Vector const high = fma(r2, splat(0.0595622974389f), fma(r, splat(0.12737421695f), splat(0.334367569568f)));
  return fma(r2, fma(high, r2, low), r);
}

/// 2 (e^x / 2^n - 1) for n = round(x / ln 2) (relative error 2^-28).
COLDPRESS_INLINE Vector twice_expm1(Vector x, Vector n) {
  Vector const r = fma(n, splat(-3.194618495e-5f), fma(n, splat(-0.693115234375f), x)), r2 = r * r;
  Vector const low = fma(r, splat(0.33333042f), splat(0.9999999f)),
               high = fma(r2, splat(0.0027629079f), fma(r, splat(0.01673749f), splat(0.08333678f)));
  return fma(fma(high, r2, low), r2, r + r);
}

/// x - sign n ln 2; with fma without the lower part of ln 2, which is n ln2_low.
inline constexpr float ln2_low = has_fma ? -1.90465421e-9f : -2.12194440e-4f;
template <class V>
COLDPRESS_INLINE V less_ln2(V x, V n, float sign) {
  V const r = fma(n, splat<V>(-sign * (has_fma ? 0.693147182f : 0.693359375f)), x);  // without fma n ln 2 is exact
  return has_fma ? r : fma(n, splat<V>(-sign * ln2_low), r);
}
/// The polynomial below adds `lift` to r^4, which is then never a denormal number, with which processors take longer.
inline constexpr float quartic = 0.04166720178f, lift = 0x1p-112f;
/// factor (e^(slope r) - 1) + rest + lifted(slope, factor) for |slope r| <= ln(2)/2 (relative error 2^-28).
constexpr float lifted(float slope, float factor) { return quartic * (factor * slope * slope * slope * slope) * lift; }
template <class V>
COLDPRESS_INLINE V expm1_of(V r, float slope, float factor, V rest) {
  float const f2 = factor * slope * slope, f4 = f2 * slope * slope;
  V const r2 = r * r, root = r2 + 0x1p-56f, r4 = has_fma ? fma(r2, r2, splat<V>(lift)) : root * root;
  V const low = fma(r, splat<V>(0.1666654318f * f2 * slope), splat<V>(0.4999999814f * f2));
  V const high =
      fma(has_fma ? r2 : root, splat<V>(0.001388251011f * f4 * slope * slope),  // root avoids a denormal product
          fma(r, splat<V>(0.008366580335f * f4 * slope), splat<V>(quartic * f4)));
  return fma(r, splat<V>(factor * slope), fma(high, r4, fma(low, r2, rest)));
}

/// n ln 2 + log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]: f - f^2/2 + f^3 q(f), q of degree 7 (relative error 2^-27).
COLDPRESS_INLINE Vector log_of(Vector n, Vector f) {
  Vector const f2 = f * f;
  Vector const low =
      fma(f2, fma(f, splat(-0.1662335909f), splat(0.2000122617f)), fma(f, splat(-0.2500082094f), splat(0.3333333172f)));
  Vector const high = fma(f2, fma(f, splat(-0.07634448981f), splat(0.1276152552f)),
                          fma(f, splat(-0.1316018032f), splat(0.1420176935f)));
  Vector const rest = fma(fma(high, f2 * f2, low), f, splat(-0.5f));
  return fma(n, splat(0.693145751953125f), fma(rest, f2, fma(n, splat(1.428606765e-6f), f)));
}

COLDPRESS_INLINE Vector power_of_two(Mask exponent) { return (Vector)((exponent + 127) << 23); }
/// x 2^n for whole numbers n from -151 on and x near [1, 2], rounded once. `rounded` is n + rounder.
COLDPRESS_INLINE Vector scaled(Vector x, Vector n, Vector rounded) {
#ifdef __AVX512F__
  static_cast<void>(rounded);
  return __builtin_ia32_scalefps512_mask(x, n, Vector{}, static_cast<std::uint16_t>(-1), 4);
#else
  static_cast<void>(n);
  Mask const exponent = (Mask)rounded - (Mask)splat(rounder), half = exponent >> 1;
  return x * power_of_two(half) * power_of_two(exponent - half);  // two steps: subnormals
#endif
}

}  // namespace detail

COLDPRESS_INLINE Vector exp(Vector x) {
  x = at_most(at_least(x, -104.f), 89.f);
  Vector const t = fma(x, splat(1.442695041f), splat(-0.5f)) + detail::rounder, n = t - detail::rounder;
  return detail::scaled(fma(detail::half_expm1(x * 0.5f, n), splat(2.f), splat(1.f)), n, t);
}

/// x p(x^2) / q(x^2), p and q of degree 4, within 5 ulp.
template <class V>
COLDPRESS_INLINE V fast_tanh(V x) {
  x = at_most(at_least(x, -8.4f), 8.4f);  // rounds to 1 there, and to more beyond
  V const x2 = x * x, x4 = fma(x2, x2, splat<V>(detail::lift));
  auto const sum = [&](float a, float b, float c, float d) COLDPRESS_INLINE_LAMBDA {  // 1 + a x2 + b x2^2 + ...
    V const high = fma(fma(x2, splat<V>(d), splat<V>(c)), x2, splat<V>(b));
    return fma(high, x4, fma(x2, splat<V>(a), splat<V>(1.f)));
  };
  return x * sum(0.133826792f, 0.0034974087f, 2.06335826e-5f, 1.33790525e-8f) /
         sum(0.467160016f, 0.0258842763f, 3.28837254e-4f, 7.78852154e-7f);
}
/// 1 / (1 + e^-x) with a shorter polynomial (relative error 2^-23), within 5 ulp.
template <class V>
COLDPRESS_INLINE V fast_sigmoid(V x) {
  constexpr float half_powers = detail::rounder + 126;
  x = at_most(at_least(x, -89.f), 87.f);
  V const t = fma(x, splat<V>(-1.442695041f), splat<V>(half_powers)), power = (V)((MaskOf<V>)t << 23);
  V const n = t - half_powers, r = detail::less_ln2(x, n, -1), r2 = r * r;
  V const linear = fma(n, splat<V>(-2 * detail::ln2_low), r * -2.f);
  V const low = fma(r, splat<V>(-0.33334229669f), splat<V>(0.99998462382f)),
          high = fma(r, splat<V>(-0.016625030844f), splat<V>(0.083780400959f));
  V const p = fma(fma(high, r2, low), r2, linear);  // 2 (e^-r - 1)
  return 1.f / fma(power, p, fma(power, splat<V>(2.f), splat<V>(1.f)));
}

/// With AVX-512 from a table, which is fastest. Elsewhere E / (E + 2) with E = e^2|x| - 1; both sides of the
/// quotient are scaled so that their roundings rarely add up.
template <bool fast = false, class V>
COLDPRESS_INLINE V tanh(V x) {
  if constexpr (looks_up) return detail::look_up_tanh(x);
  if constexpr (fast && has_fma) return fast_tanh(x);
  constexpr float scale = has_fma ? 1.5f : 1.f;
  constexpr float powers = detail::rounder + 127;  // its sums, shifted, are the bits of 2^n
  using Bits = MaskOf<V>;
  Bits const sign = (Bits)x & (Bits{} + INT32_MIN);
  V const a = at_most((V)((Bits)x ^ sign), 10.f);  // rounds to 1 from 9.02 on
  V const t = fma(a, splat<V>(2.88539008f), splat<V>(powers)), power = (V)((Bits)t << 23);
  V const p = detail::expm1_of(detail::less_ln2(a, t - powers, 0.5f), 2, scale, splat<V>(-detail::lifted(2, scale)));
  V const e = fma(power, p, fma(power, splat<V>(scale), splat<V>(-scale)));
  V y = e / (e + 2 * scale);
  if constexpr (!has_fma) y = e < 1.f ? fma(e * -0.5f, y, e * 0.5f) : y;  // the same value with less rounding
  return (V)((Bits)y | sign);
}

/// 1 / (1 + e^-x), scaled likewise: with e^-x = 2^(n-1) (2 + p). From -88.8 down it is 0.
template <bool fast = false, class V>
COLDPRESS_INLINE V sigmoid(V x) {
  if constexpr (fast && has_fma) return fast_sigmoid(x);
  constexpr float scale = 1.625f;
  constexpr float half_powers = detail::rounder + 126;
  x = at_most(at_least(x, -89.f), 87.f);
  V const t = fma(x, splat<V>(-1.442695041f), splat<V>(half_powers)), power = (V)((MaskOf<V>)t << 23);
  V const n = t - half_powers, r = detail::less_ln2(x, n, -1);
  V const low = n * (has_fma ? -2 * scale * detail::ln2_low : 0.f);
  V const p = detail::expm1_of(r, -1, 2 * scale, fma(low, -r, low));
  return scale / fma(power, p, fma(power, splat<V>(2 * scale), splat<V>(scale)));
}

/// e^x - 1 = 2 (2^(n-2) p + (2^(n-1) - 1/2)): no digits cancel, and nothing overflows early.
COLDPRESS_INLINE Vector expm1(Vector x) {
  constexpr float quarter_powers = detail::rounder + 125;
  x = at_most(at_least(x, -20.f), 89.f);  // rounds to -1 from here on
  Vector const t = fma(x, splat(1.442695041f), splat(quarter_powers));
  Vector const p = detail::twice_expm1(x, t - quarter_powers), power = (Vector)((Mask)t << 23);
  return 2.f * fma(power, p, fma(power, splat(2.f), splat(-0.5f)));
}

COLDPRESS_INLINE Vector log(Vector x) {
  Mask const tiny = x < 0x1p-126f;
  Mask const bits = (Mask)(tiny ? x * 0x1p24f : x), n = (bits - 0x3f3504f3) >> 23;  // 0x3f3504f3: sqrt(1/2)
  Vector const mantissa = (Vector)(bits - (n << 23));
  Vector const y = detail::log_of(__builtin_convertvector(n, Vector) - (tiny ? splat(24.f) : Vector{}), mantissa - 1.f);
  Vector const end = x == 0.f ? splat(-__builtin_inff()) : x < 0.f ? splat(__builtin_nanf("")) : x;  // x: inf and NaN
  return x > 0.f && x < __builtin_inff() ? y : end;
}

/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
COLDPRESS_INLINE Vector softplus(Vector x) {
  Vector const u = exp(x < 0.f ? x : -x);
  Mask const large = u > 0.41421356f;
  Vector const f = large ? fma(u, splat(0.5f), splat(-0.5f)) : u;
  return (x < 0.f ? Vector{} : x) + detail::log_of(large ? splat(1.f) : Vector{}, f);
}

/// The cumulative distribution function of the normal distribution, P(X <= x) = erfc(-x / sqrt(2)) / 2. For x < 0 it is
/// e^(-x^2/2) p(-x) / q(-x), where p and q have degrees 4 and 5 and no negative coefficients (relative error 2^-27);
/// for x > 0 it is 1 - P(X <= -x).
COLDPRESS_INLINE Vector normal_cdf(Vector x) {
  Vector const square = x * x, density = exp(fma(square, splat(-0.5f), splat(-0x1p-40f)));  // exp squares it, see below
  Vector const top = (Vector)((Mask)x & -4096);         // half the bits, so that its square is exact
  Vector const rounding = has_fma ? fma(x, x, -square)  // exact
                                  : fma(x - top, x + top, top * top - square);
  Vector const lost = square < 1e3f ? rounding : Vector{};
  Vector const a = at_most((Vector)((Mask)x & INT32_MAX), 20.f);  // the density is 0 beyond
  Vector const a2 = a * a;
  Vector const p = fma(a2, fma(a2, splat(0.004101782297f), fma(a, splat(0.04053536161f), splat(0.1829447461f))),
                       fma(a, splat(0.4379027687f), splat(0.5f)));
  Vector const q = fma(
      a2,
      fma(a2, fma(a, splat(0.01028152034f), splat(0.1016136675f)), fma(a, splat(0.4687040012f), splat(1.201296625f))),
      fma(a, splat(1.673690508f), splat(1.f)));
  Vector const tail = fma(density, lost * -0.5f, density) * (p / q);
  return x > 0.f ? 1.f - tail : tail;
}

/// |base|^exponent = e^(exponent log |base|), with the sign that integer exponents give. Other exponents of a negative
/// base give NaN. The error is up to 4 ulp plus 2 |exponent log |base|| ulp, which come from the logarithm.
COLDPRESS_INLINE Vector pow(Vector base, float exponent) {
  bool const whole = exponent == __builtin_truncf(exponent),
             odd = whole && exponent / 2 != __builtin_truncf(exponent / 2);
  Mask const sign = (Mask)base & (Mask{} + INT32_MIN);
  Vector const magnitude = exp(log((Vector)((Mask)base ^ sign)) * exponent);
  if (odd) return (Vector)((Mask)magnitude | sign);
  return whole ? magnitude : base < 0.f ? splat(__builtin_nanf("")) : magnitude;
}

namespace detail {
/// f(x) for the arguments of activations, which may have any magnitude. A polynomial squares its argument, which takes
/// several times as long if the square or a product of it is a denormal number. So with fused multiply-add a number is
/// added first that is lost where x is large, and does not matter where it is not. Without it, where products of larger
/// numbers are denormal too, |x| below 2^-26 is taken as zero.
inline constexpr float smallest_argument = 0x1p-26f;

/// For an f that does not vanish at zero: 2^-32 more changes f(x) by less than a hundredth of an ulp.
template <class F>
COLDPRESS_INLINE Vector constant_near_zero(Vector x, F f) {
  return f(has_fma ? x + 0x1p-32f : flush_small(x, splat(smallest_argument)));
}
/// For an f that is x near zero, to the last bit: 2^-58 more changes no x of at least 2^-32.
template <class F>
COLDPRESS_INLINE Vector linear_near_zero(Vector x, F f) {
  Vector const magnitude = (Vector)((Mask)x & INT32_MAX);
  Vector const y = f(has_fma ? x + 0x1p-58f : flush_small(x, splat(smallest_argument)));
  return magnitude < (has_fma ? 0x1p-32f : smallest_argument) ? x : y;
}

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
  static COLDPRESS_INLINE cpu::Vector number(double x) { return cpu::splat(static_cast<float>(x)); }
  static COLDPRESS_INLINE cpu::Vector exp(cpu::Vector x) {
    return cpu::detail::constant_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::exp(v); });
  }
  static COLDPRESS_INLINE cpu::Vector tanh(cpu::Vector x) {
    if constexpr (cpu::looks_up) return cpu::detail::look_up_tanh<true>(x);
    return cpu::detail::linear_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::tanh(v); });
  }
  static COLDPRESS_INLINE cpu::Vector sigmoid(cpu::Vector x) {
    return cpu::detail::constant_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::sigmoid(v); });
  }
  static COLDPRESS_INLINE cpu::Vector expm1(cpu::Vector x) {
    return cpu::detail::linear_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::expm1(v); });
  }
  static COLDPRESS_INLINE cpu::Vector log(cpu::Vector x) { return cpu::log(x); }
  static COLDPRESS_INLINE cpu::Vector softplus(cpu::Vector x) {
    return cpu::detail::constant_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::softplus(v); });
  }
  static COLDPRESS_INLINE cpu::Vector normal_cdf(cpu::Vector x) {
    return cpu::detail::constant_near_zero(x, [](cpu::Vector v) COLDPRESS_INLINE_LAMBDA { return cpu::normal_cdf(v); });
  }
#if defined __AVX512F__
  static COLDPRESS_INLINE cpu::Vector gelu_slope(cpu::Vector x) { return cpu::detail::look_up_gelu_slope(x); }
#endif
  static COLDPRESS_INLINE cpu::Vector pow(cpu::Vector x, float exponent) { return cpu::pow(x, exponent); }
  static COLDPRESS_INLINE cpu::Vector sqrt(cpu::Vector x) { return cpu::sqrt(x); }
  static COLDPRESS_INLINE cpu::Vector fma(cpu::Vector a, cpu::Vector b, cpu::Vector c) { return cpu::fma(a, b, c); }
  static COLDPRESS_INLINE cpu::Vector multiply(cpu::Vector a, cpu::Vector b) {
    return cpu::has_fma ? cpu::fma(a, b, cpu::splat(-0.f)) : a * b;  // -0 changes no product, nor its sign
  }
  /// The random words of the features at.column, at.column + 1, ...; at.column is a multiple of the number of lanes.
  static COLDPRESS_INLINE cpu::Words random(std::uint64_t key, Position at) {
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
