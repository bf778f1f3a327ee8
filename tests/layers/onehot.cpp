#include "support/layer_laws.hpp"

using namespace coldpress;

static_assert(Onehot{.num_classes = 4}.output_shape({1, 2, 3}) == Shape{4, 2, 3});
static_assert(Onehot{.num_classes = 4, .axis = -1}.output_shape({6, 1}) == Shape{6, 4});
static_assert(!LayerTraits<Onehot>::propagates);

TEMPLATE_TEST_CASE("what is no number of a class becomes NaNs, and harms no other value", "", DefaultBackend,
                   Reference<double>) {
  using T = typename TestType::Scalar;
  Network<Sequential<Onehot{.num_classes = 3, .axis = -1}>, Shape{2, 1}, DynamicBatch, TestType> net;
  std::vector<T> const wrong{-1, 3, T(0.5), std::numeric_limits<T>::quiet_NaN(), T(1e30), -T(1e30)};
  for (T const value : wrong) {
    INFO(value);
    auto const y = test::copy_of<T>(net.forward(std::vector<T>{value, 2}));
    for (std::size_t k = 0; k < 3; ++k) CHECK(std::isnan(y[k]));
    CHECK(std::vector<T>(y.begin() + 3, y.end()) == std::vector<T>{0, 0, 1});
  }
}

TEST_CASE("an axis of several values is refused") {
  CHECK_THROWS_AS((Onehot{.num_classes = 3}.output_shape({2, 1})), ShapeError);
  CHECK_THROWS_AS((Onehot{.num_classes = 0}.output_shape({1})), ShapeError);
  CHECK_THROWS_AS((Onehot{.num_classes = 3, .axis = 1}.output_shape({1})), ShapeError);
}
