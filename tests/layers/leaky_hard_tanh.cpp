#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LeakyHardTanh keeps the laws of layers") {
  test::check_layer_laws<LeakyHardTanh{.min_val = -0.5f, .max_val = 1, .min_slope = 0.25f, .max_slope = 0.125f}>();
  test::check_layer_laws<LeakyHardTanh{.min_slope = -0.25f, .max_slope = 0}>();
}

TEST_CASE("LeakyHardTanh goes on from its bounds with a slope of its own on each side") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<LeakyHardTanh{.min_val = -2, .min_slope = 0.5f, .max_slope = 0.25f}>, Shape{7}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0.5f, -1.5f, 5, -4, infinity, 1, -2};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{0.5f, -1.5f, 2, -3, infinity, 1, -2});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(7, 4.0f), workspace)) ==
        std::vector<float>{4, 4, 1, 2, 1, 4, 4});
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0, 0, 0})[1]));
}

TEST_CASE("LeakyHardTanh refuses bounds that enclose nothing, and slopes that are no numbers") {
  float const infinity = std::numeric_limits<float>::infinity();
  for (LeakyHardTanh const wrong : {LeakyHardTanh{.min_val = 1}, LeakyHardTanh{.max_val = infinity}}) {
    CHECK_THROWS_WITH(wrong.output_shape({3}),
                      "leaky_hard_tanh: min_val and max_val must be finite numbers, and min_val the smaller one");
  }
  for (LeakyHardTanh const wrong : {LeakyHardTanh{.min_slope = infinity}, LeakyHardTanh{.max_slope = -infinity}}) {
    CHECK_THROWS_WITH(wrong.output_shape({3}), "leaky_hard_tanh: min_slope and max_slope must be finite numbers");
  }
}
