#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("ELU keeps the laws of layers") { test::check_layer_laws<ELU{.alpha = 0.75f}>(); }

TEST_CASE("ELU is exact near 0 and ends at -alpha") {
  Network<Sequential<ELU{.alpha = 2}>, Shape{4}> network;
  decltype(network)::TrainingWorkspace workspace;
  CHECK(test::copy_of<float>(network.forward_training(std::vector<float>{0, -1e4f, 3, -1e-6f}, workspace))[3] ==
        Approx(-1.999999e-6).epsilon(1e-7));
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{0, -1e4f, 3, -1e30f})) ==
        std::vector<float>{0, -2, 3, -2});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(4, 1.0f), workspace)) ==
        std::vector<float>{2, 0, 1, 2.0f - 2e-6f});
}

TEST_CASE("ELU refuses an alpha that loses the sign") {
  for (float const alpha : {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(ELU{.alpha = alpha}.output_shape({3}), "elu: alpha must be a finite number of at least 0");
}
