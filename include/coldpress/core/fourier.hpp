// The discrete Fourier transform of powers of two, by one thread or by several that work together.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress {

/// Stands in for a group of threads where one thread works alone: each(n, f) calls f(i) for all i below n before any
/// thread goes on, and sum(n, f) returns the sum of f(i).
struct OneThread {
  template <class F>
  constexpr void each(Index n, F const& f) const {
    for (Index i = 0; i < n; ++i) f(i);
  }
  template <class F>
  constexpr double sum(Index n, F const& f) const {
    double total = 0;
    for (Index i = 0; i < n; ++i) total += f(i);
    return total;
  }
};

/// e^(-2 pi i k / n).
struct Root {
  double re, im;
};
COLDPRESS_DEVICE inline Root root_of_unity(Index k, Index n) {
  double const angle = 6.283185307179586476925 * static_cast<double>(k) / static_cast<double>(n);
  return {freestanding::cos(angle), -freestanding::sin(angle)};
}

/// i with its lowest `bits` bits in reverse order: where value i of 2^bits has to be before `fourier`.
constexpr Index bits_reversed(Index i, int bits) {
  Index reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed = reversed << 1 | (i >> bit & 1);
  return reversed;
}

/// X[k] = Σ x[i] e^(-2 pi i k / n), in place, for n = 2^bits numbers whose order was reversed by bits_reversed; X is in
/// its natural order. roots(k) is root_of_unity(k, n). With re and im exchanged it is the inverse, times n.
template <class ThreadGroup, class Roots>
constexpr void fourier(ThreadGroup const& thread_group, int bits, double* re, double* im, Roots const& roots) {
  for (int stage = 0; stage < bits; ++stage) {
    Index const half = Index{1} << stage;
    thread_group.each(Index{1} << (bits - 1), [&](Index i) {
      Index const low = i & (half - 1), a = 2 * i - low, b = a + half;
      Root const root = roots(low << (bits - 1 - stage));
      double const r = re[b] * root.re - im[b] * root.im, s = re[b] * root.im + im[b] * root.re;
      re[b] = re[a] - r, im[b] = im[a] - s;
      re[a] += r, im[a] += s;
    });
  }
}

}  // namespace coldpress
