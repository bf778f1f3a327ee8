#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Exponential keeps the laws of layers") { test::check_layer_laws<Exponential{}>(); }

TEST_CASE("Exponential is 0 and infinite at the ends") {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<Exponential{}>, Shape{3}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{0, -infinity, 1e4f})) ==
        std::vector<float>{1, 0, infinity});
}
