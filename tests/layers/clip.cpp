#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Clip keeps the laws of layers") { test::check_layer_laws<Clip{.min = -0.5f, .max = 1.25f}>(); }

TEST_CASE("Clip holds values between its bounds, and passes the gradient at them, but not beyond") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<Clip{.min = -2, .max = 1}>, Shape{7}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0.5f, -1.5f, 2, -3, infinity, 1, -2};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{0.5f, -1.5f, 1, -2, 1, 1, -2});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(7, 4.0f), workspace)) ==
        std::vector<float>{4, 4, 0, 0, 0, 4, 4});
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0, 0, 0})[1]));
}

TEST_CASE("Clip may have one bound, and refuses bounds that enclose nothing") {
  Network<Sequential<Clip{.min = 0}>, Shape{3}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{-1, 2, 1e38f})) == std::vector<float>{0, 2, 1e38f});
  float const infinity = std::numeric_limits<float>::infinity();
  for (Clip const wrong : {Clip{.min = 1, .max = 0}, Clip{.max = infinity}})
    CHECK_THROWS_WITH(wrong.output_shape({3}), "clip: min and max must be finite numbers, and min not the larger one");
}
