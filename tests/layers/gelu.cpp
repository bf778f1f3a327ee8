#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("GELU keeps the laws of layers") { test::check_layer_laws<GELU{}>(); }
TEST_CASE("approximate GELU keeps the laws of layers") { test::check_layer_laws<GELU{.approximate = true}>(); }

namespace {
template <Layer auto layer>
void check_far() {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<layer>, Shape{6}> network;
  typename decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{1e4f, -1e4f, 1e30f, -1e30f, infinity, -infinity};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) ==
        std::vector<float>{1e4f, 0, 1e30f, 0, infinity, 0});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>(6, 1.0f), workspace)) ==
        std::vector<float>{1, 0, 1, 0, 1, 0});
  CHECK(std::isnan(network.forward(std::vector<float>(6, std::numeric_limits<float>::quiet_NaN()))[5]));
}
}  // namespace

TEST_CASE("GELU is x or 0 far away") {
  check_far<GELU{}>();
  check_far<GELU{.approximate = true}>();
}
