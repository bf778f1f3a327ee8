#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LogSigmoid keeps the laws of layers") { test::check_layer_laws<LogSigmoid{}>(); }

TEST_CASE("LogSigmoid is x or 0 far away, and its gradient stays right where the output is small") {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<LogSigmoid{}>, Shape{5}> network;
  decltype(network)::TrainingWorkspace workspace;
  auto const y = test::copy_of<float>(
      network.forward_training(std::vector<float>{-1e4f, 1e4f, 20, infinity, -infinity}, workspace));
  CHECK(y[0] == -1e4f);
  CHECK(y[1] == 0);
  CHECK(y[3] == 0);
  CHECK(y[4] == -infinity);
  auto const dx = test::copy_of<float>(network.backward(std::vector<float>(5, 1.0f), workspace));
  CHECK(dx[0] == 1);
  CHECK(dx[1] == 0);
  CHECK(dx[4] == 1);
  for (float const value : {-y[2], dx[2]}) CHECK(value == Approx(2.0611536e-9).epsilon(1e-6));  // e^-20
}
