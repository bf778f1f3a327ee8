#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("HardSigmoid keeps the laws of layers") {
  test::check_layer_laws<HardSigmoid{.alpha = 0.75f, .beta = 0.25f}>();
}

// PyTorch's hardsigmoid, whose definition in float64 is relu6(x + 3) / 6.
TEST_CASE("HardSigmoid is (x + 3) / 6 held between 0 and 1, where its gradient is 0") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Network<Sequential<HardSigmoid{}>, Shape{7}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{0, 1.5f, -1.5f, 3, -3, infinity, -infinity};
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  std::vector<float> const expected{0.5f, 0.75f, 0.25f, 1, 0, 1, 0};
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(expected[i]).epsilon(1e-6));
  auto const dx = test::copy_of<float>(network.backward(std::vector<float>(7, 6.0f), workspace));
  std::vector<float> const slopes{1, 1, 1, 0, 0, 0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(dx[i] == Approx(slopes[i]).epsilon(1e-6));
  CHECK(std::isnan(network.forward(std::vector<float>{0, nan, 0, 0, 0, 0, 0})[1]));
}

TEST_CASE("HardSigmoid refuses a line that does not rise") {
  float const infinity = std::numeric_limits<float>::infinity();
  for (HardSigmoid const wrong :
       {HardSigmoid{.alpha = 0}, HardSigmoid{.alpha = infinity}, HardSigmoid{.beta = infinity}})
    CHECK_THROWS_WITH(wrong.output_shape({3}),
                      "hard_sigmoid: alpha must be a finite number above 0, and beta a finite number");
}
