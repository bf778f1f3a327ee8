// Pooling over random geometries: the CPU's numbers are the reference's; and what maxima do with NaN, infinities and
// equal values.
#include "support/matrix.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/layers/pooling.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Output and input gradient. With few different values in x, maxima are often equal.
template <class Backend>
std::pair<Doubles, Doubles> made(Pooling const& p, Shape in, Index batch, bool padded, std::uint64_t seed) {
  using T = typename Backend::Scalar;
  PoolingGeometry const g = p.geometry(in);
  numbers = Random{seed};
  Backend backend{};
  std::vector<T> scratch(static_cast<std::size_t>(Backend::pooling_scratch(g)) + 16, T(77.25));
  if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
  Index const out = p.output_shape(in).size();
  bool const in_blocked = keeps_blocks<Backend> && seed / 2 % 2 == 0,
             out_blocked = keeps_blocks<Backend> && seed / 4 % 2 == 0;
  auto x = Matrix<Backend>::random_values(batch, in.size(), padded, in_blocked),
       dy = Matrix<Backend>::random_values(batch, out, true, out_blocked);
  if (seed % 3 == 0) {
    for (Index i = 0; i < batch * in.size(); ++i) x(i / in.size(), i % in.size()) = T(numbers.integer(0, 3));
  }
  std::vector<T> places(static_cast<std::size_t>(batch * p.memory(in)) + 1);
  Matrix<Backend> y{batch, out, padded, out_blocked}, dx{batch, in.size(), padded, in_blocked};
  backend.pool(g, x.rows(), y.rows(), PostOps<Chain<>, T>{}, places.data());
  backend.pool_gradient(g, dy.rows(), places.data(), dx.rows(), Derivative<Chain<>, T>{});
  CHECK(y.kept_in());
  CHECK(dx.kept_in());
  CHECK(places.back() == 0);
  for (std::size_t i = scratch.size() - 16; i < scratch.size(); ++i) CHECK(scratch[i] == T(77.25));
  return {y.values(), dx.values()};
}

/// One plane of 2 x 3 under one window.
template <class Backend>
std::pair<Doubles, Doubles> largest(Doubles const& values) {
  using T = typename Backend::Scalar;
  Pooling const p{.filter_shape = {2, 3}};
  PoolingGeometry const g = p.geometry({1, 2, 3});
  Backend backend{};
  std::vector<T> scratch(static_cast<std::size_t>(Backend::pooling_scratch(g))), x(values.begin(), values.end()), dx(6);
  if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
  T y{}, place{};
  T const dy = 2;
  backend.pool(g, Rows<T const>{x.data(), 1, 6, 6}, Rows<T>{&y, 1, 1, 1}, PostOps<Chain<>, T>{}, &place);
  backend.pool_gradient(g, Rows<T const>{&dy, 1, 1, 1}, &place, Rows<T>{dx.data(), 1, 6, 6}, Derivative<Chain<>, T>{});
  return {{static_cast<double>(y)}, Doubles(dx.begin(), dx.end())};
}

}  // namespace

TEST_CASE("pooling of random shapes") {
  Random random{6};
  for (std::uint64_t seed = 0; seed < cases(400); ++seed) {
    Index const f[] = {random.integer(1, 4), random.integer(1, 4), random.integer(1, 3)};
    bool const volume = seed % 5 == 0;
    auto const padding = [&](int axis) { return random.integer(0, f[axis] - 1); };
    auto const stride = [&](int axis) { return random.integer(1, f[axis] + 1); };
    Pooling p{.mode = seed % 2 ? PoolingMode::max : PoolingMode::average,
              .filter_shape = {f[0], f[1]},
              .stride = {stride(0), stride(1)},
              .padding = {padding(0), padding(1)},
              .rounding = random.integer(0, 1) ? Rounding::ceil : Rounding::floor,
              .count_padding = random.integer(0, 1) == 1};
    Shape in{random.integer(1, 40), f[0] + random.integer(0, 9), f[1] + random.integer(0, 20)};
    if (volume) {
      p.filter_shape = {f[0], f[1], f[2]};
      p.padding = {padding(0), padding(1), padding(2)};
      p.stride = stride(0);
      in = {random.integer(1, 20), f[0] + random.integer(0, 4), f[1] + random.integer(0, 4),
            f[2] + random.integer(0, 6)};
    }
    if (seed % 9 == 4) {  // windows that touch each other, over all of the input
      p.filter_shape = p.stride = 2;
      p.padding = 0;
      Index const narrow = Index{1} << random.integer(0, 3);  // several rows to a vector
      in = {random.integer(1, 20), 2 * random.integer(1, 6),
            2 * (random.integer(0, 1) ? narrow : random.integer(1, 40))};
    }
    INFO(to_string(in) << ", filter " << to_string(p.filter_shape) << ", stride " << to_string(p.stride) << ", padding "
                       << to_string(p.padding) << ", " << to_string(p.rounding) << ", seed " << seed);
    Index const batch = seed % 4 == 1 ? random.integer(16, 35) : random.integer(1, 4), taps = p.geometry(in).taps();
    auto const fast = made<Cpu>(p, in, batch, seed % 4 < 2, seed);
    auto const exact = made<Reference<double>>(p, in, batch, seed % 4 < 2, seed);
    check(fast.first, exact.first, taps, 1);
    check(fast.second, exact.second, taps, 1);
  }
}

TEST_CASE("an image's input gradient has the same bits in a block and alone, -0 too") {
  for (Index const stride : {1, 2}) {
    for (Index const size : {2, 3}) {
      Pooling const p{.mode = PoolingMode::max, .filter_shape = size, .stride = stride};
      Shape const in{2, 6, 8};
      PoolingGeometry const g = p.geometry(in);
      Index const out = p.output_shape(in).size();
      numbers = Random{1};
      Cpu backend;
      std::vector<float> scratch(static_cast<std::size_t>(Cpu::pooling_scratch(g)));
      backend.scratch = scratch.data();
      auto const back = [&](Matrix<Cpu> x, Matrix<Cpu> dy, Index batch, bool blocked) {
        Matrix<Cpu> y{batch, out, true, blocked}, dx{batch, in.size(), true, blocked};
        std::vector<float> places(static_cast<std::size_t>(batch * out));
        backend.pool(g, x.rows(), y.rows(), PostOps<Chain<>, float>{}, places.data());
        backend.pool_gradient(g, dy.rows(), places.data(), dx.rows(), Derivative<Chain<>, float>{});
        return dx.values();
      };
      auto const x = Matrix<Cpu>::random_values(block_size, in.size(), true, true);
      auto dy = Matrix<Cpu>::random_values(block_size, out, true, true);
      for (Index i = 0; i < block_size; ++i) dy(i, i % out) = -0.0f;
      Doubles const all = back(x, dy, block_size, true);
      for (Index i = 0; i < block_size; ++i) {
        Matrix<Cpu> one{1, in.size()}, gradient{1, out};
        for (Index j = 0; j < in.size(); ++j) one(0, j) = static_cast<float>(x.at(i, j));
        for (Index j = 0; j < out; ++j) gradient(0, j) = static_cast<float>(dy.at(i, j));
        CHECK(same_bits(back(one, gradient, 1, false), std::span{all}.subspan(static_cast<std::size_t>(i * in.size()),
                                                                              static_cast<std::size_t>(in.size()))));
      }
    }
  }
}

TEMPLATE_TEST_CASE("the first of equal maxima takes the gradient, the first NaN before all", "", Cpu, Reference<float>,
                   Reference<double>) {
  double const nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(largest<TestType>({1, 3, 2, 3, 3, 0}) == std::pair{Doubles{3}, Doubles{0, 2, 0, 0, 0, 0}});
  CHECK(largest<TestType>({-4, -4, -4, -4, -4, -4}) == std::pair{Doubles{-4}, Doubles{2, 0, 0, 0, 0, 0}});
  CHECK(largest<TestType>(Doubles(6, -infinity)) == std::pair{Doubles{-infinity}, Doubles{2, 0, 0, 0, 0, 0}});
  for (Doubles const& values : {Doubles{1, 2, nan, 7, nan, infinity}, Doubles{infinity, 2, nan, 7, 8, nan}}) {
    auto const [y, dx] = largest<TestType>(values);
    CHECK(std::isnan(y[0]));
    CHECK(dx == Doubles{0, 0, 2, 0, 0, 0});
  }
}
