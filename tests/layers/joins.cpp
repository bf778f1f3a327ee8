#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("operations by element keep the laws of layers") {
  test::check_laws_at<Add{}, Shape{71}, Shape{71}>();
  test::check_laws_at<Subtract{}, Shape{2, 3, 5}, Shape{2, 3, 5}>();
  test::check_laws_at<Multiply{}, Shape{19}, Shape{19}>();
  test::check_laws_at<Max{}, Shape{19}, Shape{19}>();
  test::check_laws_at<Min{}, Shape{2, 3, 5}, Shape{2, 3, 5}>();
}
TEST_CASE("Max and Min are NaN where one of the two values is") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const check = []<class Layer>(Layer, std::vector<float> const& a, std::vector<float> const& b) {
    static constexpr auto function = graph([](auto x, auto y) { return apply(Layer{}, x, y); });
    Network<Graph<function>, Inputs{Shape{3}, Shape{3}}> network;
    auto const y = test::copy_of<float>(network.forward(std::tie(a, b)));
    CHECK((std::isnan(y[0]) && std::isnan(y[1]) && y[2] == 1));
  };
  check(Max{}, {nan, 1, 1}, {2, nan, 0});
  check(Min{}, {nan, 1, 1}, {2, nan, 2});
}
TEST_CASE("Concat and Product keep the laws of layers") {
  test::check_laws_at<Concat{.axis = 1}, Shape{2, 3}, Shape{2, 1}, Shape{2, 5}>();
  test::check_laws_at<MatMul{.scale = 0.5f}, Shape{2, 3, 4}, Shape{2, 4, 5}>();
  test::check_laws_at<MatMul{.transpose = true}, Shape{3, 4}, Shape{5, 4}>();
}
TEST_CASE("Permute and TiedLinear keep the laws of layers") {
  test::check_laws_at<Permute{{2, 0, 1}}, Shape{2, 3, 7}>();
  test::check_laws_at<TiedLinear{19}, Shape{7}, Shape{2, 3, 5}>();
}
