// Custom layers with parameters, scratch, memory and state.
#include "support/custom_layers.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;
using namespace custom_layers;

TEST_CASE("a custom layer's parameters keep the laws") { test::check_laws_at<Gains{}, Shape{2, 11}>(); }
TEST_CASE("a custom layer's use of the primitives keeps the laws") { test::check_laws_at<Mixing{7}, Shape{19}>(); }
TEST_CASE("a custom layer's memory keeps the laws") { test::check_laws_at<Shrink{}, Shape{3, 4, 2}>(); }
TEST_CASE("a custom layer's sequences keep the laws") { test::check_laws_at<Delay{}, Shape{4, 5}>(); }

TEST_CASE("a custom layer's state goes on from call to call") {
  Network<Sequential<Delay{}>, Shape{2, 3}> const net{1};
  decltype(net)::State state;
  decltype(net)::Workspace workspace;
  std::vector<float> const first{1, 2, 3, 4, 5, 6}, second{7, 8, 9, 10, 11, 12};
  CHECK(test::same_bits(net.step(first, state, workspace), std::vector<float>{0, 0, 0, 1, 2, 3}));
  CHECK(test::same_bits(net.step(second, state, workspace), std::vector<float>{4, 5, 6, 7, 8, 9}));
}
