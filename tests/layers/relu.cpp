#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("ReLU keeps the laws of layers") { test::check_layer_laws<ReLU{}>(); }
