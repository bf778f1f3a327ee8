// The layer Product: products of the matrices in two inputs.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = scale a b, or scale a bᵀ, for matrices a {..., m, k} and b {..., k, n} (transposed: {..., n, k}) of each sample.
/// The leading extents, if any, must be equal; they count matrices. Attention is built from it.
struct Product {
  static constexpr std::string_view name = "product";
  bool transpose = false;  // whether b is transposed
  float scale = 1;

  constexpr Shape output_shape(Shapes in) const {
    Extents const e = extents(in);
    require(scale >= -3.4028234e38f && scale <= 3.4028234e38f, "product: scale must be a finite number");
    Shape out = in[0];
    out.extents[out.rank() - 1] = e.n;
    return out;
  }
  constexpr Index flops(Shapes in) const {
    Extents const e = extents(in);
    return 2 * e.products();
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    Extents const e = extents(pass.in);
    if constexpr (many_threads<decltype(backend)>) {
      auto const a = all<true>(pass.x[0], e.m * e.k, e.k, 1);
      if (transpose) {
        multiply_all(backend, e.matrices, e.m, e.k, e.n, a, all<true>(pass.x[1], e.k * e.n, 1, e.k), pass.y);
      } else {
        multiply_all(backend, e.matrices, e.m, e.k, e.n, a, all<false>(pass.x[1], e.k * e.n, e.n, 1), pass.y);
      }
    } else {
      for_each(backend, pass, e, [&](auto const* a, auto const* b, auto* y) {
        freestanding::fill_n(y, e.m * e.n, std::remove_cvref_t<decltype(*a)>{});
        multiply(e.m, e.k, e.n, matrix(a, e.k, 1), of_b(e, b), y);
      });
    }
  }
  /// da = scale dy bᵀ, db = scale aᵀ dy.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    Extents const e = extents(pass.in);
    auto const &da = pass.dx[0], &db = pass.dx[1];
    if constexpr (many_threads<decltype(backend)>) {
      multiply_all_back(backend, pass, e);
    } else {
      each_sample(backend, pass.dy, 2 * e.products(), [&](Index i) {
        for (Index s = 0; s < e.matrices; ++s) {
          auto const* const a = pass.x[0].row(i) + s * e.m * e.k;
          auto const* const b = pass.x[1].row(i) + s * e.k * e.n;
          auto const* const dy = pass.dy.row(i) + s * e.m * e.n;
          if (da.data) {
            auto* const to = da.row(i) + s * e.m * e.k;
            freestanding::fill_n(to, e.m * e.k, std::remove_cvref_t<decltype(*a)>{});
            auto const m = of_b(e, b);
            multiply(e.m, e.n, e.k, matrix(dy, e.n, 1), matrix(m.data, m.column, m.row), to);
          }
          if (db.data) {
            auto* const to = db.row(i) + s * e.k * e.n;
            freestanding::fill_n(to, e.k * e.n, std::remove_cvref_t<decltype(*a)>{});
            if (transpose) {
              multiply(e.n, e.m, e.k, matrix(dy, 1, e.n), matrix(a, e.k, 1), to);
            } else {
              multiply(e.k, e.m, e.n, matrix(a, 1, e.k), matrix(dy, e.n, 1), to);
            }
          }
        }
      });
    }
  }
  static constexpr Capabilities capabilities{.backward_reads_input = true, .backward_reads_output = false};
  bool operator==(Product const&) const = default;

 private:
  struct Extents {
    Index matrices, m, k, n;
    constexpr Index products() const { return matrices * m * k * n; }
  };
  constexpr Extents extents(Shapes in) const {
    require(in.size() == 2, "product: takes two inputs");
    int const rank = in[0].rank();
    require(rank >= 2 && in[1].rank() == rank, "product: the inputs must be matrices, and of one rank");
    Index matrices = 1;
    for (int a = 0; a + 2 < rank; ++a) {
      require(in[0][a] == in[1][a], "product: the leading extents of the inputs differ");
      matrices *= in[0][a];
    }
    Index const inner = in[1][transpose ? rank - 1 : rank - 2];
    require(in[0][rank - 1] == inner, "product: the inner extents of the matrices differ");
    return {matrices, in[0][rank - 2], inner, in[1][transpose ? rank - 2 : rank - 1]};
  }
  template <class T>
  struct Matrix {
    T const* data;
    Index row, column;  // distances between rows and between columns
  };
  template <class T>
  static constexpr Matrix<T> matrix(T const* data, Index row, Index column) {
    return {data, row, column};
  }
  template <class T>
  constexpr Matrix<T> of_b(Extents const& e, T const* b) const {
    return transpose ? Matrix<T>{b, 1, e.k} : Matrix<T>{b, e.n, 1};
  }
  template <class F>
  static constexpr void for_each(auto const& backend, auto const& pass, Extents const& e, F f) {
    each_sample(backend, pass.y, e.products(), [&](Index i) {
      for (Index s = 0; s < e.matrices; ++s)
        f(pass.x[0].row(i) + s * e.m * e.k, pass.x[1].row(i) + s * e.k * e.n, pass.y.row(i) + s * e.m * e.n);
    });
  }
  /// y += scale a b. Each sum adds its terms in the order of k.
  template <class T>
  constexpr void multiply(Index m, Index k, Index n, Matrix<T> a, Matrix<T> b, T* y) const {
    auto const factor = static_cast<T>(scale);
    for (Index i = 0; i < m; ++i) {
      for (Index p = 0; p < k; ++p) {
        T const left = factor * a.data[i * a.row + p * a.column];
        T const* const from = b.data + p * b.row;
        T* const to = y + i * n;
        if (b.column == 1) {
          for (Index j = 0; j < n; ++j) to[j] += left * from[j];
        } else {
          for (Index j = 0; j < n; ++j) to[j] += left * from[j * b.column];
        }
      }
    }
  }
  /// The matrices of all samples, for backends with many threads. Value (i, j) of a matrix is at i * row + j * column,
  /// and the next matrix of the same sample is `size` values further. `along_k` says whether the terms of a sum are
  /// adjacent: along a row of the first factor, or along a column of the second.
  template <class T, bool along>
  struct All {
    static constexpr bool along_k = along;
    T const* data;
    Index pitch, size, row, column;
    constexpr All turned() const { return {data, pitch, size, column, row}; }
  };
  template <bool along, class X>
  static constexpr auto all(X const& x, Index size, Index row, Index column) {
    return All<typename X::Scalar, along>{x.data, x.pitch, size, row, column};
  }
  /// y = scale a b, with a {m, k} and b {k, n}.
  constexpr void multiply_all(auto const& backend, Index count, Index m, Index k, Index n, auto const& a, auto const& b,
                              auto const& y) const {
    backend.multiply(y.rows * count, m, n, k, count, a, b, [&](Index number, Index i, Index j, auto sum) {
      y.row(number / count)[number % count * m * n + i * n + j] = scale * sum;
    });
  }
  constexpr void multiply_all_back(auto const& backend, auto const& pass, Extents const& e) const {
    auto const &da = pass.dx[0], &db = pass.dx[1];
    if (da.data) {
      auto const dy = all<true>(pass.dy, e.m * e.n, e.n, 1);
      if (transpose) {
        multiply_all(backend, e.matrices, e.m, e.n, e.k, dy, all<false>(pass.x[1], e.k * e.n, e.k, 1), da);
      } else {
        multiply_all(backend, e.matrices, e.m, e.n, e.k, dy, all<true>(pass.x[1], e.k * e.n, 1, e.n), da);
      }
    }
    if (db.data) {
      auto const a = all<false>(pass.x[0], e.m * e.k, 1, e.k), dy = all<false>(pass.dy, e.m * e.n, 1, e.n);
      if (transpose) {
        multiply_all(backend, e.matrices, e.n, e.m, e.k, dy, a.turned(), db);
      } else {
        multiply_all(backend, e.matrices, e.k, e.m, e.n, a, dy.turned(), db);
      }
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Product, transpose, scale);
