#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("GroupNormalization keeps the laws of layers: groups of the channels of images") {
  test::check_laws_at<GroupNormalization{.groups = 2, .epsilon = 0.1f}, Shape{6, 3, 5}>();
}
TEST_CASE("GroupNormalization keeps the laws of layers: groups of features") {
  test::check_values_at<GroupNormalization{.groups = 3, .epsilon = 0.1f}, Shape{57}>();
}
TEST_CASE("GroupNormalization keeps the laws of layers: instances") {
  test::check_values_at<GroupNormalization{.groups = 0, .epsilon = 0.1f}, Shape{3, 37}>();
}

TEST_CASE("one group is a normalization of the whole sample, and as many as there are channels are instances") {
  auto const of = []<GroupNormalization layer>() {
    return test::copy_of<float>(Network<Sequential<layer>, Shape{4, 5}>{}.forward(test::Random{1}.values<float>(40)));
  };
  auto const whole = of.operator()<GroupNormalization{.groups = 1}>();
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < 20; ++i)
    mean += double{whole[i]} / 20, square += double{whole[i]} * double{whole[i]} / 20;
  CHECK(mean == Approx(0).margin(1e-6));
  CHECK(square == Approx(1).epsilon(1e-3));
  CHECK(of.operator()<GroupNormalization{.groups = 0}>() == of.operator()<GroupNormalization{.groups = 4}>());
}

TEST_CASE("GroupNormalization refuses groups that are not equal, and an epsilon of 0") {
  CHECK_THROWS_WITH((GroupNormalization{.groups = 4}.output_shape({6, 2})),
                    "group_normalization: groups must divide the number of channels, or be 0: one for each channel");
  CHECK_THROWS_WITH((GroupNormalization{.groups = 3, .epsilon = 0}.output_shape({6, 2})),
                    "group_normalization: epsilon must be above 0");
}
