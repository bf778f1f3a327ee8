#include <coldpress/core/along.hpp>

#include "support/catch.hpp"

#include <limits>
#include <vector>

using namespace coldpress;

static_assert(axis_of({2, 3, 4}, 0) == 0 && axis_of({2, 3, 4}, -1) == 2 && axis_of({2, 3, 4}, -3) == 0);
static_assert(with_extent({2, 3, 4}, -2, 7) == Shape{2, 7, 4});
static_assert(without_axis({2, 3, 4}, 0) == Shape{3, 4} && without_axis({2, 3, 4}, -1) == Shape{2, 3});
static_assert(without_axis({5}, 0) == Shape{1});
static_assert(without_axis({1, 1, 1, 1, 1, 1, 1, 2}, -1).rank() == 7);

TEST_CASE("every value of a sample is on one line along each axis") {
  Shape const shape{2, 3, 4};
  for (int axis : {0, 1, 2}) {
    Along const along{shape, axis};
    REQUIRE(along.outer * along.extent * along.inner == 24);
    std::vector<int> seen(24);
    for (Index line = 0; line < along.lines(); ++line) {
      for (Index k = 0; k < along.extent; ++k) ++seen[static_cast<std::size_t>(along.line(line) + k * along.inner)];
    }
    CHECK(seen == std::vector<int>(24, 1));
  }
  CHECK(Along{shape, 1}.line(5) == 13);  // the second of two, column 1
}

TEST_CASE("an axis beyond the sample is refused") {
  CHECK_THROWS_AS(axis_of({2, 3}, 2), ShapeError);
  CHECK_THROWS_AS(axis_of({2, 3}, -3), ShapeError);
  CHECK_THROWS_AS(axis_of({}, 0), ShapeError);
}

TEST_CASE("sums of all lengths take every term once") {
  for (Index n = 0; n <= 70; ++n)
    CHECK(sum_over<double>(n, [](Index i) { return double(i * i); }) == double((n - 1) * n * (2 * n - 1) / 6));
}

TEST_CASE("the largest of all lengths is found wherever it is, and a NaN counts as the largest") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (Index n = 1; n <= 70; ++n) {
    for (Index place = 0; place < n; ++place) {
      CHECK(maximum_over<double>(n, [&](Index i) { return i == place ? -1.0 : -2.0 - double(i % 5); }) == -1);
      double const most = maximum_over<double>(n, [&](Index i) { return i == place ? nan : double(i); });
      CHECK(most != most);
    }
  }
}
