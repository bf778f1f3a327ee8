#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Flatten keeps the laws of layers") { test::check_layer_laws<Flatten{}>(); }

static_assert(Flatten{}.output_shape({2, 3, 4}) == Shape{24});
static_assert(Flatten{}.output_shape({5}) == Shape{5});
