#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("RMSNormalization keeps the laws of layers: a row") { test::check_laws_at<RMSNormalization{}, Shape{19}>(); }
TEST_CASE("RMSNormalization keeps the laws of layers: the last of three axes") {
  test::check_values_at<RMSNormalization{.epsilon = 0.01f}, Shape{2, 2, 37}>();
}

TEST_CASE("lines come out with a mean square of 1, wherever they are") {
  Network<Sequential<RMSNormalization{}>, Shape{2, 40}> net;
  auto x = test::Random{1}.values<float>(80, -3, 3);
  for (std::size_t i = 40; i < 80; ++i) x[i] = x[i] * 100 + 1000;
  auto const y = net.forward(x);
  for (std::size_t line : {0, 1}) {
    double square = 0;
    for (float const v : y.values.subspan(40 * line, 40)) square += double{v} * double{v} / 40;
    CHECK(square == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("zeros stay zeros, and an epsilon of 0 is refused") {
  Network<Sequential<RMSNormalization{}>, Shape{5}> net;
  CHECK(test::copy_of<float>(net.forward(std::vector<float>(5))) == std::vector<float>(5));
  CHECK_THROWS_WITH((RMSNormalization{.epsilon = 0}.output_shape({5})), "rms_normalization: epsilon must be above 0");
}
