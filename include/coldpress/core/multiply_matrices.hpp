// Products of matrices that consist of a sample's values.
#pragma once

// A backend with one thread per value has a primitive for them. Others compute one sample after another in loops.

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// The matrices of all samples. Value (i, j) of a matrix is at i * row + j * column from its start. The next matrix of
/// a sample starts `size` values later, and the next sample `pitch` values later.
template <class T>
struct MatrixValues {
  T const* data;
  Index pitch, size, row, column;
};
/// `along` says whether consecutive terms of a product are adjacent in memory: in the rows of the first factor, or in
/// the columns of the second.
template <class T, bool along>
struct Matrices : MatrixValues<T> {
  static constexpr bool along_k = along;
  constexpr Matrices turned() const { return {{this->data, this->pitch, this->size, this->column, this->row}}; }
};
template <bool along, class X>
constexpr auto matrices(X const& x, Index size, Index row, Index column) {
  return Matrices<typename X::Scalar, along>{{x.data, x.pitch, size, row, column}};
}

namespace detail {
/// Computes y += factor a b for a {m, k} and b {k, n}. Each sum is in the order of k.
template <class T>
constexpr void add_product(Index m, Index k, Index n, T factor, T const* a, MatrixValues<T> const& in_a, T const* b,
                           MatrixValues<T> const& in_b, T* y) {
  for (Index i = 0; i < m; ++i) {
    for (Index p = 0; p < k; ++p) {
      T const left = factor * a[i * in_a.row + p * in_a.column];
      T const* const from = b + p * in_b.row;
      T* const to = y + i * n;
      if (in_b.column == 1) {
        for (Index j = 0; j < n; ++j) to[j] += left * from[j];
      } else {
        for (Index j = 0; j < n; ++j) to[j] += left * from[j * in_b.column];
      }
    }
  }
}
template <class Backend, class T, class Y>
constexpr void multiply_in_loops(Backend const& backend, Index count, Index m, Index k, Index n,
                                 MatrixValues<T> const& a, MatrixValues<T> const& b, float scale, Y const& y) {
  auto const factor = static_cast<T>(scale);
  each_sample(backend, y, count * m * k * n, [&](Index i) {
    for (Index s = 0; s < count; ++s) {
      T* const to = y.row(i) + s * m * n;
      freestanding::fill_n(to, m * n, T{});
      add_product(m, k, n, factor, a.data + i * a.pitch + s * a.size, a, b.data + i * b.pitch + s * b.size, b, to);
    }
  });
}
}  // namespace detail

/// Computes y = scale a b for a {m, k} and b {k, n}: `count` products per sample, with results one after another.
template <class Backend, class T, bool of_a, bool of_b, class Y>
constexpr void multiply_matrices(Backend const& backend, Index count, Index m, Index k, Index n,
                                 Matrices<T, of_a> const& a, Matrices<T, of_b> const& b, float scale, Y const& y) {
  if constexpr (many_threads<Backend>) {
    backend.multiply(y.rows * count, m, n, k, count, a, b, [&](Index number, Index i, Index j, auto sum) {
      y.row(number / count)[number % count * m * n + i * n + j] = scale * sum;
    });
  } else {
    detail::multiply_in_loops<Backend, T>(backend, count, m, k, n, a, b, scale, y);
  }
}

}  // namespace coldpress
