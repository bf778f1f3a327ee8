// The few functions of <algorithm> and <cmath> that static networks need.
#pragma once

// Including the standard headers would take a compiler as long as compiling all layers.

#include <cstddef>
#include <type_traits>

#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "coldpress: compile without -ffast-math, -Ofast and their parts: sums have an order, and NaN is looked for"
#endif

// Functions that a GPU calls, too, are constexpr. Those that can never be constant are marked with this instead.
#if defined __CUDACC__
#define COLDPRESS_DEVICE __host__ __device__
#else
#define COLDPRESS_DEVICE
#endif

namespace coldpress::freestanding {

template <class T>
__attribute__((always_inline)) constexpr T max(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}
template <class T>
__attribute__((always_inline)) constexpr T min(T a, std::type_identity_t<T> b) {
  return b < a ? b : a;
}
template <class T>
__attribute__((always_inline)) constexpr T within(T x, std::type_identity_t<T> low, std::type_identity_t<T> high) {
  return x < low ? low : high < x ? high : x;
}
template <class T>
__attribute__((always_inline)) constexpr void fill_n(T* to, std::ptrdiff_t count, std::type_identity_t<T> value) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = value;
}
template <class T>
__attribute__((always_inline)) constexpr void copy_n(T const* from, std::ptrdiff_t count, T* to) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = from[i];
}

// Each function for float and double.
#define COLDPRESS_FUNCTION(name)                                                                                \
  __attribute__((always_inline)) COLDPRESS_DEVICE inline float name(float x) { return __builtin_##name##f(x); } \
  __attribute__((always_inline)) COLDPRESS_DEVICE inline double name(double x) { return __builtin_##name(x); }  \
  static_assert(true)
COLDPRESS_FUNCTION(exp);
COLDPRESS_FUNCTION(expm1);
COLDPRESS_FUNCTION(log);
COLDPRESS_FUNCTION(log1p);
COLDPRESS_FUNCTION(tanh);
COLDPRESS_FUNCTION(erfc);
COLDPRESS_FUNCTION(cos);
COLDPRESS_FUNCTION(sin);
COLDPRESS_FUNCTION(sqrt);
COLDPRESS_FUNCTION(fabs);
#undef COLDPRESS_FUNCTION
__attribute__((always_inline)) COLDPRESS_DEVICE inline float pow(float x, float y) { return __builtin_powf(x, y); }
__attribute__((always_inline)) COLDPRESS_DEVICE inline double pow(double x, double y) { return __builtin_pow(x, y); }
__attribute__((always_inline)) COLDPRESS_DEVICE inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
__attribute__((always_inline)) COLDPRESS_DEVICE inline double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}


/// The square root of a number of values, rounded to the nearest float. Newton's method, because it runs at compile
/// time, too.
constexpr float square_root(std::ptrdiff_t n) {
  double root = static_cast<double>(n);
  for (int i = 0; i < 64; ++i) root = (root + static_cast<double>(n) / root) / 2;
  return static_cast<float>(root);
}

}  // namespace coldpress::freestanding
