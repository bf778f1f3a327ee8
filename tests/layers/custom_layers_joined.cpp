// Custom layers with several inputs, and with none.
#include "support/custom_layers.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;
using namespace custom_layers;

TEST_CASE("a custom layer's joins keep the laws") {
  test::check_laws_at<Gate{}, Shape{3, 7}, Shape{3, 7}>();
  test::check_laws_at<Blend{0.25f}, Shape{19}, Shape{19}>();
}
TEST_CASE("a custom layer's several inputs keep the laws") {
  test::check_laws_at<Staircase{}, Shape{6}, Shape{2, 3}, Shape{3, 2}>();
}
TEST_CASE("a custom layer's source keeps the laws") { test::check_laws_at<Ramp{.shape = {2, 3}}>(); }
