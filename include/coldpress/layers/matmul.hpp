// The layer MatMul, called product in files: products of the matrices in two inputs.
#pragma once

#include <coldpress/core/layer.hpp>
#include <coldpress/core/multiply_matrices.hpp>

namespace coldpress {

/// y = scale a b, or scale a bᵀ, for matrices a {..., m, k} and b {..., k, n} (transposed: {..., n, k}) of each sample.
/// The leading extents, if any, must be equal; they count matrices. Attention is built from it.
struct MatMul {
  static constexpr std::string_view name = "product";
  bool transpose = false;  // whether b is transposed
  float scale = 1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    Extents const e = extents(in, require);
    require(is_finite(scale), "product: scale must be a finite number");
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
      multiply(backend, e, e.m, e.k, e.n, a, matrices<true>(pass.x[1], e.k * e.n, 1, e.k), pass.y);
    } else {
      multiply(backend, e, e.m, e.k, e.n, a, matrices<false>(pass.x[1], e.k * e.n, e.n, 1), pass.y);
    }
  }
  /// da = scale dy bᵀ, db = scale aᵀ dy.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    Extents const e = extents(pass.in);
    auto const &da = pass.dx[0], &db = pass.dx[1];
    if (da.data) {
      auto const dy = matrices<true>(pass.dy, e.m * e.n, e.n, 1);
      if (transpose) {
        multiply(backend, e, e.m, e.n, e.k, dy, matrices<false>(pass.x[1], e.k * e.n, e.k, 1), da);
      } else {
        multiply(backend, e, e.m, e.n, e.k, dy, matrices<true>(pass.x[1], e.k * e.n, 1, e.n), da);
      }
    }
    if (db.data) {
      auto const a = matrices<false>(pass.x[0], e.m * e.k, 1, e.k), dy = matrices<false>(pass.dy, e.m * e.n, 1, e.n);
      if (transpose) {
        multiply(backend, e, e.n, e.m, e.k, dy, a.turned(), db);
      } else {
        multiply(backend, e, e.k, e.m, e.n, a, dy.turned(), db);
      }
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  bool operator==(MatMul const&) const = default;

 private:
  struct Extents {
    Index matrices, m, k, n;
    constexpr Index products() const { return matrices * m * k * n; }
  };
  template <class Needs = Require>
  constexpr Extents extents(Shapes in, Needs require = {}) const {
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
  /// y = scale a b, {m, k} {k, n}.
  constexpr void multiply(auto const& backend, Extents const& e, Index m, Index k, Index n, auto const& a,
                          auto const& b, auto const& y) const {
    multiply_matrices(backend, e.matrices, m, k, n, a, b, scale, y);
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::MatMul, transpose, scale);
