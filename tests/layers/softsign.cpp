#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Softsign keeps the laws of layers") { test::check_layer_laws<Softsign{}>(); }

TEST_CASE("Softsign gives x / (1 + |x|)") {
  Network<Sequential<Softsign{}>, Shape{5}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0, 1, -1, 3, -7};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{0, 0.5f, -0.5f, 0.75f, -0.875f});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(5, 1.0f), workspace)) ==
        std::vector<float>{1, 0.25f, 0.25f, 0.0625f, 0.015625f});
}
