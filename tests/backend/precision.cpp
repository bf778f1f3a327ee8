// The GPU's products as loops on the host: in each precision within its bound of double precision, the same bits in
// every order of the threads and with tiles of either size.
#include "support/matrix.hpp"

#include <coldpress/backend/grid.hpp>
#include <coldpress/layers/convolution.hpp>

#include <limits>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Forward, input gradient and weight gradient of random values.
struct Made {
  Doubles y, dx, dw;
};
template <class Backend>
void give_scratch(Backend& backend, std::vector<typename Backend::Scalar>& scratch, Index size) {
  scratch.resize(static_cast<std::size_t>(size));
  if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
}
template <class Backend>
Made dense(Backend backend, Index rows, Index in, Index out, std::uint64_t seed) {
  using T = typename Backend::Scalar;
  numbers = Random{seed};
  std::vector<T> scratch;
  give_scratch(backend, scratch, Backend::weight_gradient_scratch(in, out) + Backend::product_scratch(in, out));
  auto x = Matrix<Backend>::random_values(rows, in), dy = Matrix<Backend>::random_values(rows, out);
  auto const weight = stored<Backend>({out, in}, random_doubles(out * in));
  auto dw = weight;
  Matrix<Backend> y{rows, out}, dx{rows, in};
  backend.affine(x.rows(), weight.data(), nullptr, y.rows(), PostOps<Chain<>, T>{});
  backend.product(dy.rows(), weight.data(), dx.rows(), Derivative<Chain<>, T>{});
  backend.weight_gradient(x.rows(), dy.rows(), GradientSink<T>{dw.data()});
  CHECK((y.kept_in() && dx.kept_in()));
  return {y.values(), dx.values(), canonical<Backend>({out, in}, dw)};
}
template <class Backend>
Made convolution(Backend backend, Index rows, Convolution const& layer, Shape in, std::uint64_t seed) {
  using T = typename Backend::Scalar;
  numbers = Random{seed};
  ConvolutionGeometry const g = layer.geometry(in);
  Shape const weights = layer.parameters(in)[0].shape;
  std::vector<T> scratch;
  give_scratch(backend, scratch, Backend::convolution_scratch(g, {true, true}));
  auto x = Matrix<Backend>::random_values(rows, in.size()),
       dy = Matrix<Backend>::random_values(rows, g.outputs * g.positions());
  auto const weight = stored<Backend>(weights, random_doubles(weights.size()));
  auto dw = weight;
  GradientSink<T> const sink{dw.data()}, *const no_bias = nullptr;
  Matrix<Backend> y{rows, g.outputs * g.positions()}, dx{rows, in.size()};
  backend.convolve(g, x.rows(), weight.data(), nullptr, y.rows(), PostOps<Chain<>, T>{}, nullptr);
  backend.convolve_input_gradient(g, dy.rows(), weight.data(), dx.rows(), Derivative<Chain<>, T>{});
  backend.convolve_parameter_gradients(g, x.rows(), dy.rows(), sink, no_bias);
  CHECK((y.kept_in() && dx.kept_in()));
  return {y.values(), dx.values(), canonical<Backend>(weights, dw)};
}

Grid in_precision(Precision precision) {
  Grid grid;
  grid.precision = precision;
  return grid;
}
double frobenius(Doubles const& tried, Doubles const& exact) {
  REQUIRE(tried.size() == exact.size());
  double distance = 0, whole = 0;
  for (std::size_t e = 0; e < exact.size(); ++e) {
    distance += (tried[e] - exact[e]) * (tried[e] - exact[e]);
    whole += exact[e] * exact[e];
  }
  return std::sqrt(distance / whole);
}
bool same(Made const& a, Made const& b) { return a.y == b.y && a.dx == b.dx && a.dw == b.dw; }

/// make(backend) in each precision: an error below its bound, and above what the one before may have.
template <class F>
void check_precisions(F make) {
  Made const exact = make(Reference<double>{});
  double least = 0;
  for (auto const& [precision, most] :
       {std::pair{Precision::fp32, 1e-5}, std::pair{Precision::tf32, 2e-3}, std::pair{Precision::bf16, 1e-2}}) {
    Made const tried = make(in_precision(precision));
    INFO("precision " << static_cast<int>(precision));
    for (auto member : {&Made::y, &Made::dx, &Made::dw}) {
      double const error = frobenius(tried.*member, exact.*member);
      CHECK((error >= least && error <= most));
    }
    least = precision == Precision::fp32 ? 1e-5 : 1e-3;
    for (auto const order : {grid::Order::backward, grid::Order::shuffled}) {
      grid::order() = order;
      CHECK(same(make(in_precision(precision)), tried));
      grid::order() = grid::Order::forward;
    }
  }
}

}  // namespace

TEST_CASE("dense layers of random sizes") {
  Random random{5};
  for (std::uint64_t seed = 0; seed < cases(20); ++seed) {
    Index const rows = random.integer(4, 140), in = random.integer(4, 140), out = random.integer(4, 140);
    INFO(rows << " x " << in << " -> " << out);
    check_precisions([&](auto backend) { return dense(backend, rows, in, out, seed); });
  }
}
TEST_CASE("convolutions of random shapes") {
  Random random{6};
  for (std::uint64_t seed = 0; seed < cases(20); ++seed) {
    Index const groups = seed % 4 == 0 ? 2 : 1;
    Convolution const layer{.num_output = groups * random.integer(2, 40),
                            .filter_shape = {random.integer(1, 4), random.integer(1, 4)},
                            .stride = random.integer(1, 2),
                            .padding = random.integer(0, 2),
                            .dilation = random.integer(1, 2),
                            .groups = groups};
    Shape const in{groups * random.integer(2, 9), random.integer(8, 14), random.integer(8, 14)};
    Index const rows = random.integer(1, 6);
    INFO("convolution " << seed << ", batch " << rows);
    check_precisions([&](auto backend) { return convolution(backend, rows, layer, in, seed); });
  }
}
TEST_CASE("tiles of both sizes add in the same order") {
  for (auto const& extents : {std::array<Index, 3>{65, 130, 37}, {130, 129, 16}, {70, 100, 0}}) {
    Index const m = extents[0], n = extents[1], k = extents[2];
    INFO(m << " x " << k << " x " << n);
    std::vector<float> const a = numbers.values<float>(m * k), b = numbers.values<float>(k * n);
    for (Precision const precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
      // The same product `count` times, of which the last is looked at.
      auto const product = [&](Index count, grid::Order order) {
        std::vector<float> all(static_cast<std::size_t>(m * n));
        grid::Products const products{count, m, n, k, precision};
        CHECK(products.large() == (count > 1));
        grid::order() = order;
        grid::multiply(Grid{}, products, grid::Matrix<true>{a.data(), k, 1}, grid::Matrix<false>{b.data(), n, 1},
                       [&](Index number, Index i, Index j, float sum) {
                         if (number == count - 1) all[static_cast<std::size_t>(i * n + j)] = sum;
                       });
        grid::order() = grid::Order::forward;
        return all;
      };
      Index const many = 128 / (grid::parts(m, 128) * grid::parts(n, 128));
      auto const one = product(1, grid::Order::forward);
      for (auto const order : {grid::Order::shuffled, grid::Order::forward, grid::Order::backward}) {
        CHECK(same_bits(product(many, order), one));
        if (!COLDPRESS_NIGHTLY) break;  // many products take long
      }
    }
  }
}
TEST_CASE("operands are rounded to the nearest, and NaN and infinity go where they belong") {
  float const infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  auto const product = [](Precision precision, float x, float weight) {
    float y = 0;
    in_precision(precision).affine(Rows<float>{&x, 1, 1, 1}, &weight, nullptr, Rows<float>{&y, 1, 1, 1},
                                   PostOps<Chain<>, float>{});
    return y;
  };
  for (float const sign : {1.0f, -1.0f}) {
    CHECK(product(Precision::fp32, sign * (1 + 0x1p-23f), 1) == sign * (1 + 0x1p-23f));
    CHECK(product(Precision::tf32, sign * (1 + 0x1p-11f), 1) == sign * (1 + 0x1p-10f));  // a tie, away from 0
    CHECK(product(Precision::tf32, 1, sign * (1 + 0x1.fp-12f)) == sign);
    CHECK(product(Precision::bf16, sign * (1 + 0x1p-8f), 1) == sign);  // a tie, to the even one
    CHECK(product(Precision::bf16, 1, sign * (1 + 0x3p-8f)) == sign * (1 + 0x1p-6f));
  }
  for (Precision const precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    constexpr Index m = 70, n = 66, k = 20;
    auto x = Matrix<Grid>::random_values(m, k);
    Matrix<Grid> y{m, n};
    auto weight = stored<Grid>({n, k}, random_doubles(n * k));
    x(3, 5) = none, x(69, 0) = infinity, weight[65 * k + 19] = -infinity;
    in_precision(precision).affine(x.rows(), weight.data(), nullptr, y.rows(), PostOps<Chain<>, float>{});
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        double const v = y.at(i, j);
        INFO(i << ", " << j << ": " << v);
        if (i != 69 || j != 65) CHECK(std::isnan(v) == (i == 3));  // there two infinities meet
        CHECK(std::isfinite(v) == (i != 3 && i != 69 && j != 65));
      }
    }
  }
}
