// What the reference backend computes with xtensor and BLAS.
#include <coldpress/backend/reference_matrices.hpp>
#include <coldpress/backend/xtensor_headers.hpp>

#include <xtensor-blas/xblas.hpp>

namespace coldpress::reference {
namespace {

/// Rows as a matrix; their pitch is their width here.
template <class T>
auto matrix(Rows<T> x) {
  std::array<std::size_t, 2> const shape{static_cast<std::size_t>(x.rows), static_cast<std::size_t>(x.columns)};
  return xt::adapt(x.data, shape[0] * shape[1], xt::no_ownership(), shape);
}

}  // namespace

template <class Real>
void multiply(Rows<Real const> a, bool a_transposed, Rows<Real const> b, bool b_transposed, Rows<Real> c) {
  auto product = matrix(c);
  xt::blas::gemm(matrix(a), matrix(b), product, a_transposed, b_transposed);
}
template <class Real>
void normalize(Normalization kind, Rows<Real const> x, Rows<Real> y) {
  auto const in = matrix(x);
  auto out = matrix(y);
  xt::xtensor<Real, 2> const top = xt::amax(in, {1}, xt::keep_dims);
  xt::noalias(out) = in - top;
  xt::xtensor<Real, 2> const mass = xt::sum(xt::exp(out), {1}, xt::keep_dims);
  if (kind == Normalization::softmax) {
    xt::noalias(out) = xt::exp(out) / mass;
  } else {
    xt::noalias(out) = out - xt::log(mass);
  }
}
template <class Real>
void normalize_gradient(Normalization kind, Rows<Real const> y, Rows<Real const> dy, Rows<Real> dx) {
  auto const out = matrix(y), gradient = matrix(dy);
  auto in = matrix(dx);
  if (kind == Normalization::softmax) {
    xt::xtensor<Real, 2> const total = xt::sum(out * gradient, {1}, xt::keep_dims);
    xt::noalias(in) = out * (gradient - total);
  } else {
    xt::xtensor<Real, 2> const total = xt::sum(gradient, {1}, xt::keep_dims);
    xt::noalias(in) = gradient - xt::exp(out) * total;
  }
}
template <class Real>
double squared_norm(Real const* values, Index size) {
  auto const row = matrix(Rows<Real const>{values, 1, size, size});
  return xt::sum(xt::square(xt::cast<double>(row)))();
}

template void multiply(Rows<float const>, bool, Rows<float const>, bool, Rows<float>);
template void multiply(Rows<double const>, bool, Rows<double const>, bool, Rows<double>);
template void normalize(Normalization, Rows<float const>, Rows<float>);
template void normalize(Normalization, Rows<double const>, Rows<double>);
template void normalize_gradient(Normalization, Rows<float const>, Rows<float const>, Rows<float>);
template void normalize_gradient(Normalization, Rows<double const>, Rows<double const>, Rows<double>);
template double squared_norm(float const*, Index);
template double squared_norm(double const*, Index);

}  // namespace coldpress::reference
