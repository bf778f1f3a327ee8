#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LayerNormalization keeps the laws of layers: a row") {
  test::check_laws_at<LayerNormalization{}, Shape{19}>();
}
TEST_CASE("LayerNormalization keeps the laws of layers: the last of three axes") {
  test::check_values_at<LayerNormalization{.epsilon = 0.01f}, Shape{2, 2, 5}>();
}

TEST_CASE("lines come out with mean 0 and variance 1, wherever they are") {
  Network<Sequential<LayerNormalization{}>, Shape{2, 40}> net;
  auto x = test::Random{1}.values<float>(80, -3, 3);
  for (std::size_t i = 40; i < 80; ++i) x[i] = x[i] * 100 + 1000;
  auto const y = net.forward(x);
  for (std::size_t line : {0, 1}) {
    double mean = 0, square = 0;
    for (float const v : y.values.subspan(40 * line, 40)) mean += double{v} / 40, square += double{v} * double{v} / 40;
    CHECK(mean == Approx(0).margin(1e-5));
    CHECK(square == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("equal values become the bias, and an epsilon of 0 is refused") {
  Network<Sequential<LayerNormalization{.bias = Constant{0.5f}}>, Shape{5}> net;
  CHECK(test::copy_of<float>(net.forward(std::vector<float>(5, 3.0f))) == std::vector<float>(5, 0.5f));
  CHECK_THROWS_AS((LayerNormalization{.epsilon = 0}.output_shape({5})), ShapeError);
}
