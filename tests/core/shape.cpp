#include <coldpress/core/shape.hpp>

#include <coldpress/core/to_string.hpp>

#include "support/catch.hpp"

using namespace coldpress;

static_assert(Shape{}.rank() == 0 && Shape{}.size() == 0);
static_assert(Shape{7}.rank() == 1 && Shape{7}.size() == 7);
static_assert(Shape{3, 32, 32}.rank() == 3 && Shape{3, 32, 32}.size() == 3072 && Shape{3, 32, 32}[1] == 32);
static_assert(Shape{1, 2, 1, 2, 1, 2, 1, 2}.rank() == 8 && Shape{1, 2, 1, 2, 1, 2, 1, 2}.size() == 16);
static_assert(Shape{1, 3} != Shape{3} && Shape{1, 3} != Shape{3, 1});

TEST_CASE("a shape prints as its extents") {
  CHECK(to_string(Shape{3, 32, 32}) == "{3, 32, 32}");
  CHECK(to_string(Shape{7}) == "{7}");
  CHECK(to_string(Shape{}) == "{}");
}

TEST_CASE("a shape whose size would overflow is refused") {
  Shape const largest{Index{1} << 40}, beyond{(Index{1} << 40) + 1}, product{1 << 20, 1 << 20, 2}, negative{2, -3};
  CHECK(largest.size() == Index{1} << 40);
  CHECK_THROWS_WITH(beyond.size(), "shape: more than 2^40 values");
  CHECK_THROWS_WITH(product.size(), "shape: more than 2^40 values");
  CHECK_THROWS_WITH(negative.size(), "shape: an extent must be at least 1");
}
