#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

/// Far from the quotients of two numbers near zero that small minibatches make with a small epsilon.
constexpr BatchNormalization calm{.epsilon = 0.5f};

}  // namespace

TEST_CASE("BatchNormalization keeps the laws") { test::check_layer_laws<calm>(); }
