#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Identity keeps the laws of layers") { test::check_layer_laws<Identity{}>(); }

static_assert(Identity{}.output_shape({2, 3, 4}) == Shape{2, 3, 4});
