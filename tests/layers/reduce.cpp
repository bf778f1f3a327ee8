#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Reduce keeps the laws of layers: sums over an axis in the middle") {
  test::check_laws_at<Reduce{.axis = 1}, Shape{2, 5, 3}>();
}
TEST_CASE("Reduce keeps the laws of layers: means over the only axis") {
  test::check_values_at<Reduce{.operation = ReduceOperation::mean, .axis = -1}, Shape{37}>();
}
TEST_CASE("Reduce keeps the laws of layers: maxima over an axis in the middle, minima over the last") {
  test::check_values_at<Reduce{.operation = ReduceOperation::max, .axis = 1}, Shape{2, 5, 3}>();
  test::check_values_at<Reduce{.operation = ReduceOperation::min, .axis = -1}, Shape{2, 9}>();
}
TEST_CASE("Reduce keeps the laws of layers: products over the first axis") {
  test::check_values_at<Reduce{.operation = ReduceOperation::prod}, Shape{4, 5}>();
}

// As torch.max(dim) and torch.min(dim) do on a CPU: of torch.amax each of the equal values would get its share.
TEST_CASE("the first of several equal values gets the gradient of a maximum or minimum") {
  auto const of = []<ReduceOperation operation>() {
    Network<Sequential<Reduce{.operation = operation}>, Shape{5, 2}> network;
    typename decltype(network)::TrainingWorkspace workspace;
    std::vector<float> const x{2, 1, 7, 0, 7, 3, 0, 0, 0, 3};
    auto all = test::copy_of<float>(network.forward_training(x, workspace));
    auto const dx = test::copy_of<float>(network.backward(std::vector<float>{4, 8}, workspace));
    all.insert(all.end(), dx.begin(), dx.end());
    return all;
  };
  CHECK(of.operator()<ReduceOperation::max>() == std::vector<float>{7, 3, 0, 0, 4, 0, 0, 8, 0, 0, 0, 0});
  CHECK(of.operator()<ReduceOperation::min>() == std::vector<float>{0, 0, 0, 0, 0, 8, 0, 0, 4, 0, 0, 0});
}
TEST_CASE("a NaN is the maximum, the minimum and the product, and the first of several has the gradient") {
  auto const check = []<ReduceOperation operation>() {
    Network<Sequential<Reduce{.operation = operation}>, Shape{4}> network;
    typename decltype(network)::TrainingWorkspace workspace;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> const x{1, nan, nan, 0};
    CHECK(std::isnan(network.forward_training(x, workspace)[0]));
    return test::copy_of<float>(network.backward(std::vector<float>{2}, workspace));
  };
  CHECK(check.operator()<ReduceOperation::max>() == std::vector<float>{0, 2, 0, 0});
  CHECK(check.operator()<ReduceOperation::min>() == std::vector<float>{0, 2, 0, 0});
  CHECK(std::isnan(check.operator()<ReduceOperation::prod>()[0]));
}
TEST_CASE("the gradient of a product is right where one value is zero, and where two are") {
  Network<Sequential<Reduce{.operation = ReduceOperation::prod, .axis = 1}>, Shape{2, 3}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{2, 0, 5, 0, 3, 0};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) == std::vector<float>{0, 0});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 1}, workspace)) ==
        std::vector<float>{0, 10, 0, 0, 0, 0});
}

static_assert(Reduce{.axis = 1}.output_shape({2, 3, 4}) == Shape{2, 4});
static_assert(Reduce{.axis = -3}.output_shape({2, 3, 4}) == Shape{3, 4});
static_assert(Reduce{}.output_shape({7}) == Shape{1});

TEST_CASE("an axis that the sample does not have is refused") {
  CHECK_THROWS_AS((Reduce{.axis = 2}.output_shape({3, 4})), ShapeError);
  CHECK_THROWS_AS((Reduce{.operation = static_cast<ReduceOperation>(7)}.output_shape({3, 4})), ShapeError);
}
