#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("ReLU keeps the laws of layers") { test::check_layer_laws<ReLU{}>(); }

TEST_CASE("ReLU gives max(x, 0), and its gradient is 0 at 0") {
  Network<Sequential<ReLU{}>, Shape{6}> network;
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> const x{1.5f, -2, 0, infinity, -infinity, 3};
  decltype(network)::TrainingWorkspace workspace;
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) == std::vector<float>{1.5f, 0, 0, infinity, 0, 3});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 2, 3, 4, 5, 6}, workspace)) ==
        std::vector<float>{1, 0, 0, 4, 0, 6});
  CHECK(std::isnan(network.forward(std::vector<float>{1, nan, -1, 0, 1, 2})[1]));
}
