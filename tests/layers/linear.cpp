#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Linear keeps the laws of layers") { test::check_layer_laws<Linear{7}>(); }
