#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("GlobalAveragePooling keeps the laws of layers") {
  test::check_laws_at<GlobalAveragePooling{}, Shape{3, 4, 5}>();
}

static_assert(GlobalAveragePooling{}.output_shape({64, 7, 7}) == Shape{64});
static_assert(GlobalAveragePooling{}.output_shape({5}) == Shape{5});
