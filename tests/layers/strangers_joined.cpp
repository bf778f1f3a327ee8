// Layers of strangers with several inputs, and with none.
#include "support/layer_laws.hpp"
#include "support/strangers.hpp"

using namespace coldpress;
using namespace stranger;

TEST_CASE("a stranger's joins keep the laws") {
  test::check_laws_at<Gate{}, Shape{3, 7}, Shape{3, 7}>();
  test::check_laws_at<Blend{0.25f}, Shape{19}, Shape{19}>();
}
TEST_CASE("a stranger's several inputs keep the laws") {
  test::check_laws_at<Staircase{}, Shape{6}, Shape{2, 3}, Shape{3, 2}>();
}
TEST_CASE("a stranger's source keeps the laws") { test::check_laws_at<Ramp{.shape = {2, 3}}>(); }
