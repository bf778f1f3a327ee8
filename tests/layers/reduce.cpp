#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Reduce keeps the laws of layers: sums over an axis in the middle") {
  test::check_laws_at<Reduce{.axis = 1}, Shape{2, 5, 3}>();
}
TEST_CASE("Reduce keeps the laws of layers: means over the only axis") {
  test::check_laws_at<Reduce{.operation = ReduceOperation::mean, .axis = -1}, Shape{37}>();
}

static_assert(Reduce{.axis = 1}.output_shape({2, 3, 4}) == Shape{2, 4});
static_assert(Reduce{.axis = -3}.output_shape({2, 3, 4}) == Shape{3, 4});
static_assert(Reduce{}.output_shape({7}) == Shape{1});

TEST_CASE("an axis that the sample does not have is refused") {
  CHECK_THROWS_AS((Reduce{.axis = 2}.output_shape({3, 4})), ShapeError);
  CHECK_THROWS_AS((Reduce{.operation = static_cast<ReduceOperation>(7)}.output_shape({3, 4})), ShapeError);
}
