#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Identity keeps the laws of layers") { test::check_layer_laws<Identity{}>(); }

static_assert(Identity{}.output_shape({2, 3, 4}) == Shape{2, 3, 4});

TEST_CASE("Identity costs nothing: its value is that of the layer before") {
  using Net = Network<Sequential<Linear{4}, Identity{}, ReLU{}, Linear{2}>, Shape{3}>;
  STATIC_REQUIRE(Net::TrainingPlan::group_count == 2);
}
