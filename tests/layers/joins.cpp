#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("operations by element keep the laws of layers") {
  test::check_laws_at<Add{}, Shape{71}, Shape{71}>();
  test::check_laws_at<Subtract{}, Shape{2, 3, 5}, Shape{2, 3, 5}>();
  test::check_laws_at<Multiply{}, Shape{19}, Shape{19}>();
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
