#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("HardTanh keeps the laws of layers") { test::check_layer_laws<HardTanh{.min_val = -0.5f, .max_val = 1}>(); }

TEST_CASE("HardTanh holds values between its bounds, where its gradient is 0") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<HardTanh{.min_val = -2}>, Shape{7}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0.5f, -1.5f, 2, -3, infinity, 1, -2};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{0.5f, -1.5f, 1, -2, 1, 1, -2});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(7, 4.0f), workspace)) ==
        std::vector<float>{4, 4, 0, 0, 0, 0, 0});
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0, 0, 0})[1]));
}

TEST_CASE("HardTanh refuses bounds that enclose nothing") {
  float const infinity = std::numeric_limits<float>::infinity();
  for (HardTanh const wrong : {HardTanh{.min_val = 1}, HardTanh{.max_val = infinity}, HardTanh{.min_val = 2}}) {
    CHECK_THROWS_WITH(wrong.output_shape({3}),
                      "hard_tanh: min_val and max_val must be finite numbers, and min_val the smaller one");
  }
}
