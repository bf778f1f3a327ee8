#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Slice keeps the laws of layers") {
  test::check_laws_at<Slice{.axis = 1, .begin = 1, .end = -1}, Shape{2, 4, 5}>();
}

static_assert(Slice{.axis = -1, .begin = 2}.output_shape({3, 7}) == Shape{3, 5});
static_assert(Slice{.end = 2}.output_shape({3, 7}) == Shape{2, 7});
static_assert(Slice{.begin = -3, .end = -1}.output_shape({7}) == Shape{2});

TEST_CASE("a part that is empty or beyond the axis is refused") {
  for (Slice const slice :
       {Slice{.begin = 3}, Slice{.begin = 2, .end = 2}, Slice{.begin = 2, .end = 1}, Slice{.end = 4},
        Slice{.begin = -4}, Slice{.end = -3}, Slice{.axis = 1}, Slice{.axis = -2}}) {
    INFO(slice.axis << " " << slice.begin << " " << slice.end);
    CHECK_THROWS_AS(slice.output_shape({3}), ShapeError);
  }
}
