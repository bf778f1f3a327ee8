#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Where keeps the laws of layers") {
  test::check_laws_at<Where{}, Shape{19}, Shape{19}, Shape{19}>();
  test::check_values_at<Where{}, Shape{2, 3, 5}, Shape{2, 3, 5}, Shape{2, 3, 5}>();
}
TEST_CASE("Where keeps them where it takes both") {
  constexpr auto function = graph([](auto x) {
    auto const a = x | Linear{19}, b = x | Linear{19} | TanH{};
    return apply(Where{}, x | Linear{19} | ReLU{}, a, b) | Linear{3};
  });
  test::Violations violations;
  testing::gradient_law<Graph<function>, Shape{5}>(3, 1, violations);
  testing::shape_law<Graph<function>, Shape{5}, DefaultBackend>(4, 2, violations);
  testing::training_law<Graph<function>, Shape{5}, MeanSquaredError{}>(17, 3, violations);
  test::check_none(violations);
}

TEST_CASE("Where takes the first value for any condition but 0, also for NaN, and nothing of the other value") {
  constexpr auto function = graph([](auto c, auto a, auto b) { return apply(Where{}, c, a, b); });
  Network<Graph<function>, Inputs{Shape{4}, Shape{4}, Shape{4}}> network;
  decltype(network)::TrainingWorkspace workspace;
  float const nan = std::nanf("");
  std::vector<float> const c{1, 0, -0.5f, nan}, a{1, nan, 3, 4}, b{nan, 6, 7, 8}, dy{1, 2, 3, 4};
  CHECK(test::copy_of<float>(network.forward_training(std::tie(c, a, b), workspace)) == std::vector<float>{1, 6, 3, 4});
  CHECK(test::copy_of<float>(network.backward(dy, workspace)) == std::vector<float>{0, 0, 0, 0});
  CHECK(test::copy_of<float>(workspace.input_gradient(1)) == std::vector<float>{1, 0, 3, 4});
  CHECK(test::copy_of<float>(workspace.input_gradient(2)) == std::vector<float>{0, 2, 0, 0});
}

TEST_CASE("Where refuses inputs of other shapes, and another number of them") {
  std::array<Shape, 3> const other{Shape{3}, Shape{3}, Shape{4}};
  CHECK_THROWS_WITH(Where{}.output_shape(Shapes{other.data(), 3}), "where: its inputs have different shapes");
  CHECK_THROWS_WITH(Where{}.output_shape(Shapes{other.data(), 2}),
                    "where: takes three inputs, a condition and two values");
}
