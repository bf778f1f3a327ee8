// Products of matrices that are values of samples: by a backend's own primitive where it has a thread for every value,
// else in loops, a sample after the other.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {

/// The matrices of all samples: value (i, j) of one is at i * row + j * column from its start, the next of a sample is
/// `size` after it, and samples are `pitch` apart. `along`: whether terms of the product follow each other in memory,
/// in the rows of the first factor, the columns of the second.
template <class T>
struct MatrixValues {
  T const* data;
  Index pitch, size, row, column;
};
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
/// y += factor a b, {m, k} {k, n}. Each sum is taken in the order of k.
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

/// y = scale a b, {m, k} {k, n}, for `count` products in each sample, whose results touch.
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
