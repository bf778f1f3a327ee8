#include "support/layer_laws.hpp"

using namespace coldpress;

static_assert(TopK{.k = 2, .axis = 1}.output_shape({3, 4, 5}) == Shape{3, 2, 5});

TEST_CASE("TopK keeps the laws of layers") {
  test::check_laws_at<TopK{.k = 3, .axis = 1}, Shape{2, 5, 3}>();
  test::check_values_at<TopK{.k = 9, .axis = -1}, Shape{37}>();
}
TEST_CASE("TopK keeps the laws of layers where it takes one value, and where it takes all") {
  test::check_values_at<TopK{}, Shape{4, 5}>();
  test::check_values_at<TopK{.k = 6}, Shape{6}>();
}

namespace {
template <Index k>
std::pair<std::vector<float>, std::vector<float>> top(std::vector<float> const& x, std::vector<float> const& dy) {
  Network<Sequential<TopK{.k = k}>, Shape{5}> network;
  typename decltype(network)::TrainingWorkspace workspace;
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  return {y, test::copy_of<float>(network.backward(dy, workspace))};
}
}  // namespace

TEST_CASE("of equal values the first ones are taken, in their order") {
  auto const [y, dx] = top<3>({1, 7, 1, 7, 1}, {10, 20, 30});
  CHECK(y == std::vector<float>{7, 7, 1});
  CHECK(dx == std::vector<float>{30, 10, 0, 20, 0});
}
TEST_CASE("a NaN is larger than every number") {
  float const nan = std::nanf("");
  auto const [y, dx] = top<3>({1, nan, std::numeric_limits<float>::infinity(), nan, 2}, {10, 20, 30});
  CHECK((std::isnan(y[0]) && std::isnan(y[1]) && std::isinf(y[2])));
  CHECK(dx == std::vector<float>{0, 10, 30, 20, 0});
}
TEST_CASE("TopK refuses to take more than there are") {
  CHECK_THROWS_WITH((TopK{.k = 4}.output_shape({3, 9})), Catch::Contains("top_k: k must be from 1 to the extent"));
  CHECK_THROWS_AS((TopK{.k = 0}.output_shape({3})), ShapeError);
  CHECK_THROWS_AS((TopK{.axis = 1}.output_shape({3})), ShapeError);
}
