// Functions from tables, for instruction sets whose vectors look up 16 numbers at once.
#pragma once

#include <coldpress/backend/vector.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace detail {

inline constexpr float rounder = 12582912.f;  // 1.5 * 2^23: adding it leaves a rounded integer in the low bits

/// c0 + c1 r + ... + c5 r^5 in each lane, with the coefficients of one interval. The lowest four bits of `numbers` are
/// the number of that interval.
template <class V>
COLDPRESS_INLINE V look_up_polynomial(float const (&coefficients)[6][16], MaskOf<V> numbers, V r) {
  auto const c = [&](int power) COLDPRESS_INLINE_LAMBDA { return look_up<V>(coefficients[power], numbers); };
  V const r2 = r * r, line = fma(r, c(1), c(0)), low = fma(r, c(3), c(2)), high = fma(r, c(5), c(4));
  return fma(fma(high, r2, low), r2, line);
}
/// A table where g++ does not see its numbers. Otherwise it would fold them into each use, which makes tanh a twentieth
/// slower.
template <class Table>
COLDPRESS_INLINE Table const& in_memory(Table const& table) {
  Table const* at = &table;
  asm("" : "+r"(at));
  return *at;
}

/// tanh in 16 intervals of |x|, which are those where slope |x| + start has the same exponent and the same first two
/// bits: with r = |x| - center, it is c0 + c1 r + ... + c5 r^5. These are minimax polynomials, whose errors are at most
/// 0.4 * 2^-24 of tanh. Each center is a float near the middle of its interval, chosen so that its tanh is nearly a
/// float, too. In the first interval, center, c0 and c2 are 0 and c1 is 1, so that small arguments are kept to the last
/// bit.
struct TanhTable {
  static constexpr float slope = 0.8125f, start = 0.5f, last = 9.1f;  // it rounds to 1 there
  alignas(64) float center[16], c[6][16];
};
inline constexpr TanhTable tanh_table{
    {2.15376329f, 2.76920533f, 3.38464999f, 4.00002146f, 4.9229722f, 6.15365553f, 7.38442469f, 8.69961834f, 0.f,
     0.230772242f, 0.384615481f, 0.538448036f, 0.769227386f, 1.07691228f, 1.384601f, 1.6922996f},
    {{0.973424256f, 0.992165267f, 0.997705638f, 0.999329329f, 0.999894083f, 0.99999094f, 0.999999225f, 0.99999994f, 0.f,
      0.226761013f, 0.366709024f, 0.491812289f, 0.646479964f, 0.792051256f, 0.881977379f, 0.93443948f},
     {0.0524451882f, 0.0156080956f, 0.0045834654f, 0.00134089519f, 0.000211845458f, 1.80741881e-05f, 1.54180645e-06f,
      1.11088085e-07f, 1.f, 0.948579431f, 0.865524471f, 0.758120656f, 0.582063675f, 0.372654796f, 0.222115889f,
      0.126822859f},
     {-0.0510491803f, -0.0154837444f, -0.00457220664f, -0.00133976759f, -0.000211198058f, -1.75354526e-05f,
      -1.45326908e-06f, -4.42389556e-08f, 0.f, -0.21510008f, -0.317394912f, -0.372852623f, -0.376292795f, -0.295166284f,
      -0.195903763f, -0.118508935f},
     {0.032215409f, 0.0101607339f, 0.00303414022f, 0.000891971868f, 0.000140745731f, 1.20328032e-05f, 1.02638626e-06f,
      7.3781294e-08f, -0.333354622f, -0.267414838f, -0.172109798f, -0.0693275556f, 0.0492353737f, 0.109568082f,
      0.0987454876f, 0.0684654117f},
     {-0.0144185098f, -0.00499026896f, -0.00152845704f, -0.000452604669f, -7.56541995e-05f, -7.75782883e-06f,
      -7.74183604e-07f, -1.75833122e-07f, 0.000575772778f, 0.131837919f, 0.168409526f, 0.158073843f, 0.0936429352f,
      0.012234319f, -0.0214370638f, -0.0243806578f},
     {0.00433955062f, 0.00186071079f, 0.000599452935f, 0.00017999699f, 3.02015251e-05f, 2.54214865e-06f,
      2.17238849e-07f, 1.62969886e-08f, 0.129238397f, 0.0802269056f, 0.0143067883f, -0.0382105187f, -0.0631716549f,
      -0.0375756845f, -0.00900840387f, 0.00276949629f}}};

/// Within 2 ulp. `any`: whether x may be so small that its powers are denormal numbers, with which processors take
/// longer. Up to 2^-60 the result is then x itself: the smaller of x and what the polynomial is at 2^-60.
template <bool any = false, class V>
COLDPRESS_INLINE V look_up_tanh(V x) {
  using Bits = MaskOf<V>;
  Bits const sign = (Bits)x & (Bits{} + INT32_MIN);
  V const magnitude = (V)((Bits)x ^ sign);
  TanhTable const& table = in_memory(tanh_table);
  V const a = at_most(any ? at_least(magnitude, 0x1p-60f) : magnitude, table.last);
  Bits const number = (Bits)fma(a, splat<V>(table.slope), splat<V>(table.start)) >> 21;
  V const y = look_up_polynomial(table.c, number, a - look_up<V>(table.center, number));
  return (V)((Bits)(any ? at_most(y, magnitude) : y) | sign);
}

/// P(X <= a) + a p(a) - 1/2 for X with the standard normal distribution and its density p, in 16 intervals around
/// n width: with r = a - n width, it is c0 + c1 r + ... + c5 r^5. These are polynomials through the function's values
/// at the Chebyshev nodes; with these coefficients their errors are at most 7.5e-8. The first one is odd, and the last
/// one is the constant that the function rounds to.
struct GeluSlopeTable {
  static constexpr float width = 0.41f;
  alignas(64) float c[6][16];
};
inline constexpr GeluSlopeTable gelu_slope_table{
    {{0.f, 0.309477448f, 0.527621746f, 0.620950997f, 0.619993627f, 0.579841435f, 0.54066962f, 0.516575873f,
      0.505515277f, 0.501514316f, 0.50034529f, 0.500065684f, 0.500010431f, 0.500001371f, 0.500000179f, 0.5f},
     {0.797884524f, 0.671907306f, 0.378414273f, 0.0912023932f, -0.0716915652f, -0.107464425f, -0.0784238949f,
      -0.0404817015f, -0.0161130577f, -0.00512002222f, -0.00132196525f, -0.000280230481f, -4.90948369e-05f,
      -7.14080898e-06f, -8.65085724e-07f, 0.f},
     {0.f, -0.28810066f, -0.388862908f, -0.286391199f, -0.111720681f, 0.0101206433f, 0.0488454401f, 0.0394657142f,
      0.020392647f, 0.00782025233f, 0.00234388374f, 0.000562862784f, 0.000109836124f, 1.75722762e-05f, 2.31882927e-06f,
      0.f},
     {-0.26595214f, -0.174313053f, 0.0120932143f, 0.134224117f, 0.131566808f, 0.0630786866f, 0.00561293773f,
      -0.0153485788f, -0.0136250732f, -0.00691195857f, -0.00251284335f, -0.000701148296f, -0.000154921858f,
      -2.75809707e-05f, -3.9994743e-06f, 0.f},
     {0.f, 0.100051895f, 0.106603436f, 0.0351347998f, -0.030178627f, -0.0436092131f, -0.0237325411f, -0.00386676611f,
      0.00377497985f, 0.00361804804f, 0.00177474518f, 0.000606404908f, 0.000156827999f, 3.18386628e-05f,
      5.17611852e-06f, 0.f},
     {0.0592459999f, 0.0299612302f, -0.021886291f, -0.0401842445f, -0.0198041424f, 0.00470934296f, 0.0117762815f,
      0.00674394378f, 0.00120076723f, -0.000842764508f, -0.000792268314f, -0.000360486738f, -0.000112461363f,
      -2.63165912e-05f, -4.80327117e-06f, 0.f}}};

/// The derivative of x P(X <= x), P + x p. The error is below 2^-22, two units in the last place of values above 1. So
/// values that are as small themselves, those of x below -5, have few digits, and from -5.95 down they are 0.
template <class V>
COLDPRESS_INLINE V look_up_gelu_slope(V x) {
  using Bits = MaskOf<V>;
  GeluSlopeTable const& table = in_memory(gelu_slope_table);
  Bits const sign = (Bits)x & (Bits{} + INT32_MIN);
  // The lower bound keeps powers from becoming denormal numbers, with which processors take longer.
  V const a = at_most(at_least((V)((Bits)x ^ sign), 0x1p-60f), 15 * table.width);
  V const number = fma(a, splat<V>(1 / table.width), splat<V>(rounder));
  V const slope = look_up_polynomial(table.c, (Bits)number, fma(number - rounder, splat<V>(-table.width), a));
  return (V)((Bits)slope ^ sign) + 0.5f;
}

}  // namespace detail
}  // namespace coldpress::cpu::inline COLDPRESS_ISA
