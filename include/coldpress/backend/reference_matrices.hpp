// Products and normalisations of matrices for the reference backend, which coldpress::reference computes with xtensor
// and BLAS.
#pragma once

#include <coldpress/backend/concept.hpp>

namespace coldpress::reference {

/// c = a b, where a or b may be given transposed.
template <class Real>
void multiply(Rows<Real const> a, bool a_transposed, Rows<Real const> b, bool b_transposed, Rows<Real> c);
/// y = softmax or log softmax of each row; y may be x.
template <class Real>
void normalize(Normalization kind, Rows<Real const> x, Rows<Real> y);
/// Computes dx from y and dy; dx may be dy.
template <class Real>
void normalize_gradient(Normalization kind, Rows<Real const> y, Rows<Real const> dy, Rows<Real> dx);
/// The sum of squares, in double.
template <class Real>
double squared_norm(Real const* values, Index size);

}  // namespace coldpress::reference
