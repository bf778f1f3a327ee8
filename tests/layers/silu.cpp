#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("SiLU keeps the laws of layers") { test::check_layer_laws<SiLU{}>(); }

TEST_CASE("SiLU is x or 0 far away") {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<SiLU{}>, Shape{6}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{1e4f, -1e4f, 1e30f, -1e30f, infinity, -infinity};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{1e4f, 0, 1e30f, 0, infinity, 0});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(6, 1.0f), workspace)) ==
        std::vector<float>{1, 0, 1, 0, 1, 0});
}
