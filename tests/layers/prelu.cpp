#include "support/layer_laws.hpp"

using namespace coldpress;

// The laws' bound on the error is for as many terms as a sample has values, and one slope sums over all samples.
TEST_CASE("PReLU keeps the laws of layers: one slope") { test::check_laws_at<PReLU{}, Shape{2, 5}>(); }
TEST_CASE("PReLU keeps the laws of layers: a slope for each channel, and for each feature of a step") {
  test::check_laws_at<PReLU{.num_parameters = 3}, Shape{3, 4, 5}>();
  test::check_values_at<PReLU{.num_parameters = 70, .axis = -1}, Shape{2, 70}>();
}

TEST_CASE("the slopes of PReLU are 0.25 at first, and zero passes the slope's share of the gradient") {
  Network<Sequential<PReLU{}>, Shape{4}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{-2, 0, 3, -1};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) == std::vector<float>{-0.5f, 0, 3, -0.25f});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 2, 4, 8}, workspace)) ==
        std::vector<float>{0.25f, 0.5f, 4, 2});
  CHECK(workspace.gradients()[0] == -10);  // -2 · 1 - 1 · 8
}

TEST_CASE("PReLU refuses a number of slopes that is neither 1 nor the extent of the axis") {
  for (Index const wrong : {0, 2, 4}) {
    CHECK_THROWS_WITH((PReLU{.num_parameters = wrong}.output_shape({3, 4})),
                      "prelu: num_parameters must be 1 or the extent of the axis");
  }
  CHECK_THROWS_AS((PReLU{.axis = 2}.output_shape({3, 4})), ShapeError);
}
