#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("RandomMask keeps the laws of layers") { test::check_layer_laws<RandomMask{.probability = 0.25f}>(); }

TEST_CASE("RandomMask zeroes with its probability in training, and scales nothing") {
  Network<Sequential<RandomMask{.probability = 0.5f}>, Shape{131}> network{3};
  auto const x = test::Random{1}.values<float>(7 * 131);
  decltype(network)::TrainingWorkspace workspace;
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  Index kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK((y[i] == 0 || y[i] == x[i]));
    kept += y[i] != 0;
  }
  CHECK(std::abs(static_cast<double>(kept) - 458.5) < 5 * std::sqrt(917 * 0.25));  // five standard deviations
  CHECK(test::same_bits(network.forward(x), x));
}

TEST_CASE("RandomMask refuses a probability outside [0, 1)") {
  for (float const probability : {1.0f, -0.1f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(RandomMask{.probability = probability}.output_shape({3}),
                      "random_mask: probability must be at least 0 and below 1");
}
