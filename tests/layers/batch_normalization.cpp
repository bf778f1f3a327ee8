#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

/// Far from the quotients of two numbers near zero that small minibatches make with a small epsilon.
constexpr BatchNormalization calm{.epsilon = 0.5f};

}  // namespace

TEST_CASE("BatchNormalization keeps the laws") { test::check_layer_laws<calm>(); }
TEST_CASE("BatchNormalization keeps the laws along the last axis, and along one in the middle") {
  test::check_values_at<BatchNormalization{.epsilon = 0.5f, .axis = -1}, Shape{4, 19}>();
  test::check_values_at<BatchNormalization{.epsilon = 0.5f, .axis = 1}, Shape{2, 3, 5}>();
}
TEST_CASE("BatchNormalization refuses an axis that a sample does not have") {
  CHECK_THROWS_AS((BatchNormalization{.axis = 1}.output_shape({3})), ShapeError);
}
