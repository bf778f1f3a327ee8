#include <coldpress/coldpress.hpp>
#include <coldpress/xtensor.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/xtensor_view.hpp"

using namespace coldpress;

namespace {

using Net = Network<Sequential<Linear{6}, TanH{}, Reshape{{2, 3}}>, Shape{2, 4}>;

xt::xtensor<float, 3> samples(std::size_t batch) {
  xt::xtensor<float, 3> x({batch, 2, 4});
  auto const values = test::Random{5}.values<float>(static_cast<Index>(x.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

}  // namespace

TEST_CASE("forward takes xtensor arrays as they lie in memory") {
  auto const x = samples(3);
  SamplesOf<xt::xtensor<float, 3>, float> const taken{x};
  CHECK(taken.values.data() == x.data());
  CHECK(taken.borrowed());
  Net net{1};
  std::vector<float> const plain(x.begin(), x.end());
  auto const wanted = test::copy_of<float>(net.forward(plain));
  CHECK(test::same_bits(net.forward(x), wanted));
}

TEST_CASE("forward takes expressions, other types and other layouts, in row-major order") {
  auto const x = samples(3);
  Net net{1};
  auto const wanted = test::copy_of<float>(net.forward(x));
  CHECK(test::same_bits(net.forward(x * 2.0f - x), wanted));
  CHECK(test::same_bits(net.forward(xt::xtensor<double, 3>(x)), wanted));
  CHECK(test::same_bits(net.forward(xt::xtensor<float, 3, xt::layout_type::column_major>(x)), wanted));
  xt::xtensor<int, 2> const whole{{1, 2, 3, 4, 5, 6, 7, 8}};
  CHECK(test::same_bits(net.forward(whole),
                        test::copy_of<float>(net.forward(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}))));
}

TEST_CASE("a view of whole samples is used where it lies, one of parts is evaluated") {
  auto const x = samples(5);
  auto const middle = xt::view(x, xt::range(1, 4), xt::all(), xt::all());
  SamplesOf<std::remove_const_t<decltype(middle)>, float> const taken{middle};
  CHECK(taken.values.data() == x.data() + 8);
  CHECK(taken.values.size() == 24);
  auto const every_other = xt::view(x, xt::range(0, 5, 2), xt::all(), xt::all());
  SamplesOf<std::remove_const_t<decltype(every_other)>, float> const picked{every_other};
  CHECK(!picked.borrowed());
  REQUIRE(picked.values.size() == 24);
  CHECK(picked.values[8] == x(2, 0, 0));
  CHECK(picked.values[23] == x(4, 1, 3));
}

TEST_CASE("outputs are seen as arrays of {batch, sample shape}") {
  Net net{1};
  auto const output = net.forward(samples(3));
  auto const y = as_xtensor<Net::output_shape>(output);
  STATIC_REQUIRE(std::tuple_size_v<std::decay_t<decltype(y.shape())>> == 3);
  CHECK((y.shape(0) == 3 && y.shape(1) == 2 && y.shape(2) == 3));
  CHECK(y.data() == output.data());
  CHECK(y(1, 1, 2) == output[11]);
  CHECK(as_xtensor<2>(output, Net::output_shape)(2, 0, 1) == output[13]);
  xt::xtensor<float, 3> const doubled = 2 * y;
  CHECK(doubled(2, 1, 2) == 2 * output[17]);
  CHECK_THROWS_AS(as_xtensor<Shape{4}>(output), ShapeError);
  CHECK_THROWS_AS(as_xtensor<2>(output, Shape{3, 3}), ShapeError);
  CHECK_THROWS_AS(as_xtensor<1>(output, Shape{2, 3}), ShapeError);
}

TEST_CASE("a Solver takes expressions; forward_training wants an array, since backward reads it again") {
  auto const x = samples(4);
  xt::xtensor<float, 3> const targets({4, 2, 3}, 0.5f);
  Net one{1}, other{1};
  Solver<Net, MeanSquaredError{}> a{one}, b{other};
  CHECK(a.train_minibatch(x, targets) == b.train_minibatch(x + 0.0f, targets * 1.0f));
  CHECK(test::same_bits(one.parameters(), other.parameters()));

  Net::TrainingWorkspace workspace;
  CHECK_NOTHROW(one.forward_training(x, workspace));
  CHECK_THROWS_AS(one.forward_training(x + 1.0f, workspace), ShapeError);
}

TEST_CASE("an array of no whole number of samples is refused") {
  Net net{1};
  CHECK_THROWS_AS(net.forward(xt::xtensor<float, 2>({3, 7}, 1.0f)), ShapeError);
  CHECK_THROWS_AS(net.forward(xt::xtensor<float, 1>(std::array<std::size_t, 1>{0})), ShapeError);
}
