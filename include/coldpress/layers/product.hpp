#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = scale a b, or scale a bᵀ, for matrices a {..., m, k} and b {..., k, n} (transposed: {..., n, k}) of each sample;
/// the leading extents, if any, are equal and count matrices. What attention is made of.
struct Product {
  static constexpr std::string_view name = "product";
  bool transpose = false;  // b
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
    auto const a = matrices<true>(pass.x[0], e.m * e.k, e.k, 1);
    if (transpose) {
      multiply(backend, e.matrices, e.m, e.k, e.n, a, matrices<true>(pass.x[1], e.k * e.n, 1, e.k), pass.y);
    } else {
      multiply(backend, e.matrices, e.m, e.k, e.n, a, matrices<false>(pass.x[1], e.k * e.n, e.n, 1), pass.y);
    }
  }
  /// da = scale dy bᵀ, db = scale aᵀ dy.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    Extents const e = extents(pass.in);
    auto const &da = pass.dx[0], &db = pass.dx[1];
    if (da.data) {
      auto const dy = matrices<true>(pass.dy, e.m * e.n, e.n, 1);
      if (transpose) {
        multiply(backend, e.matrices, e.m, e.n, e.k, dy, matrices<false>(pass.x[1], e.k * e.n, e.k, 1), da);
      } else {
        multiply(backend, e.matrices, e.m, e.n, e.k, dy, matrices<true>(pass.x[1], e.k * e.n, 1, e.n), da);
      }
    }
    if (db.data) {
      auto const a = matrices<false>(pass.x[0], e.m * e.k, 1, e.k), dy = matrices<false>(pass.dy, e.m * e.n, 1, e.n);
      if (transpose) {
        multiply(backend, e.matrices, e.n, e.m, e.k, dy, a.turned(), db);
      } else {
        multiply(backend, e.matrices, e.k, e.m, e.n, a, dy.turned(), db);
      }
    }
  }
  static constexpr bool backward_reads_input = true, backward_reads_output = false;
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
  /// Matrices of all samples. Value (i, j) of one is at i * row + j * column; the next of a sample is `size` after it.
  /// As the first factor they have rows of terms, as the second columns: `along_k` where terms follow each other.
  template <class T, bool along>
  struct Matrices {
    static constexpr bool along_k = along;
    T const* data;
    Index pitch, size, row, column;
    constexpr Matrices turned() const { return {data, pitch, size, column, row}; }
  };
  template <bool along, class X>
  static constexpr auto matrices(X const& x, Index size, Index row, Index column) {
    return Matrices<typename X::Scalar, along>{x.data, x.pitch, size, row, column};
  }
  /// y = scale a b for all matrices of all samples, {m, k} {k, n}.
  template <class A, class B>
  constexpr void multiply(auto const& backend, Index count, Index m, Index k, Index n, A const& a, B const& b,
                          auto const& y) const {
    using T = std::remove_cvref_t<decltype(*y.data)>;
    auto const factor = static_cast<T>(scale);
    if constexpr (many_threads<decltype(backend)>) {
      backend.multiply(y.rows * count, m, n, k, count, a, b, [&](Index number, Index i, Index j, T sum) {
        y.row(number / count)[number % count * m * n + i * n + j] = factor * sum;
      });
    } else {
      each_sample(backend, y, count * m * k * n, [&](Index sample) {
        for (Index s = 0; s < count; ++s) {
          T* const to = y.row(sample) + s * m * n;
          freestanding::fill_n(to, m * n, T{});
          add(m, k, n, factor, a.data + sample * a.pitch + s * a.size, a, b.data + sample * b.pitch + s * b.size, b,
              to);
        }
      });
    }
  }
  /// y += factor a b. Each sum is taken in the order of k.
  template <class T, class A, class B>
  static constexpr void add(Index m, Index k, Index n, T factor, T const* a, A const& of_a, T const* b, B const& of_b,
                            T* y) {
    for (Index i = 0; i < m; ++i) {
      for (Index p = 0; p < k; ++p) {
        T const left = factor * a[i * of_a.row + p * of_a.column];
        T const* const from = b + p * of_b.row;
        T* const to = y + i * n;
        if (of_b.column == 1) {
          for (Index j = 0; j < n; ++j) to[j] += left * from[j];
        } else {
          for (Index j = 0; j < n; ++j) to[j] += left * from[j * of_b.column];
        }
      }
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Product, transpose, scale);
