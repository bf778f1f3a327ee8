#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Mish keeps the laws of layers") { test::check_layer_laws<Mish{}>(); }

// Of torch.nn.functional.mish in float64 and its gradient, at -20, -3, 0.5 and 12.
TEST_CASE("Mish is PyTorch's far from zero, too, and finite everywhere") {
  float const infinity = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
  Network<Sequential<Mish{}>, Shape{9}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{-20, -3, 0.5f, 12, 60, most, infinity, -most, -infinity};
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  auto const dx = test::copy_of<float>(network.backward(std::vector<float>(9, 1.0f), workspace));
  double const values[]{-4.122307241e-08, -0.1456474613, 0.3752452113, 12},
      slopes[]{-3.916191874e-08, -0.09339311453, 0.8864243754, 1.000000002};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(y[i] == Approx(values[i]).epsilon(1e-6));
    CHECK(dx[i] == Approx(slopes[i]).epsilon(1e-6));
  }
  for (std::size_t i = 4; i < 7; ++i) CHECK((y[i] == x[i] && dx[i] == 1));
  for (std::size_t i = 7; i < 9; ++i) CHECK((y[i] == 0 && dx[i] == 0));
}

TEST_CASE("Mish keeps a NaN") {
  Network<Sequential<Mish{}>, Shape{1}> network;
  CHECK(std::isnan(network.forward(std::vector<float>{std::numeric_limits<float>::quiet_NaN()})[0]));
}
