#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("HardSwish keeps the laws of layers") { test::check_layer_laws<HardSwish{}>(); }

TEST_CASE("HardSwish gives x (x + 3) / 6 between -3 and 3, 0 below and x above") {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<HardSwish{}>, Shape{8}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0, 1.5f, -1.5f, 3, -3, 100, -100, -infinity};
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  std::vector<float> const expected{0, 1.125f, -0.375f, 3, 0, 100, 0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(expected[i]).epsilon(1e-6));
  auto const dx = test::copy_of<float>(network.backward(std::vector<float>(8, 1.0f), workspace));
  std::vector<float> const slopes{0.5f, 1, 0, 1.5f, -0.5f, 1, 0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(dx[i] == Approx(slopes[i]).epsilon(1e-6));
}

TEST_CASE("HardSwish keeps a NaN") {
  Network<Sequential<HardSwish{}>, Shape{1}> network;
  CHECK(std::isnan(network.forward(std::vector<float>{std::numeric_limits<float>::quiet_NaN()})[0]));
}
