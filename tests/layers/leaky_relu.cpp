#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LeakyReLU keeps the laws of layers") { test::check_layer_laws<LeakyReLU{.slope = 0.25f}>(); }

TEST_CASE("LeakyReLU gives x or slope x, and its gradient is the slope at 0") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<LeakyReLU{.slope = 0.25f}>, Shape{5}> network;
  decltype(network)::TrainingWorkspace workspace;
  CHECK(
      test::copy_of<float>(network.forward_training(std::vector<float>{1.5f, -2, 0, infinity, -infinity}, workspace)) ==
      std::vector<float>{1.5f, -0.5f, 0, infinity, -infinity});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 2, 4, 4, 8}, workspace)) ==
        std::vector<float>{1, 0.5f, 1, 4, 2});
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0})[1]));
}

TEST_CASE("LeakyReLU refuses a slope that loses the sign") {
  for (float const slope : {-0.1f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(LeakyReLU{.slope = slope}.output_shape({3}),
                      "leaky_relu: slope must be a finite number of at least 0");
}
