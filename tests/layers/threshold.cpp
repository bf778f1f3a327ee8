#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Threshold keeps the laws of layers") { test::check_layer_laws<Threshold{.epsilon = -0.25f}>(); }

TEST_CASE("Threshold gives max(x, epsilon), and its gradient is 0 there") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<Threshold{.epsilon = 0.5f}>, Shape{5}> network;
  decltype(network)::TrainingWorkspace workspace;
  CHECK(test::copy_of<float>(
            network.forward_training(std::vector<float>{1.5f, 0.25f, 0.5f, infinity, -infinity}, workspace)) ==
        std::vector<float>{1.5f, 0.5f, 0.5f, infinity, 0.5f});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 2, 3, 4, 5}, workspace)) ==
        std::vector<float>{1, 0, 0, 4, 0});
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0})[1]));
}

TEST_CASE("Threshold refuses an epsilon that is no number") {
  for (float const epsilon : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(Threshold{.epsilon = epsilon}.output_shape({3}), "threshold: epsilon must be a finite number");
}
