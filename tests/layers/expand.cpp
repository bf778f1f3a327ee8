#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Expand keeps the laws of layers") {
  test::check_laws_at<Expand{{3, 5, 4}}, Shape{3, 1, 1}>();
  test::check_values_at<Expand{{4, 19}}, Shape{19}>();
  test::check_values_at<Expand{{2, 3, 2, 5}}, Shape{3, 1, 5}>();
  test::check_values_at<Expand{{33}}, Shape{1}>();
}

TEST_CASE("Expand repeats values, and sums the gradients of their copies") {
  Network<Sequential<Expand{{2, 3, 2}}>, Shape{2, 1, 2}> network;
  decltype(network)::TrainingWorkspace workspace;
  CHECK(test::copy_of<float>(network.forward_training(std::vector<float>{1, 2, 3, 4}, workspace)) ==
        std::vector<float>{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
  CHECK(test::copy_of<float>(network.backward(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, workspace)) ==
        std::vector<float>{9, 12, 27, 30});
}

TEST_CASE("operators repeat what one of their operands lacks") {
  constexpr auto net = graph([](auto image) {  // a gate for each channel (Hu et al. 2018)
    auto const gate = image | GlobalAveragePooling{} | Reshape{Shape{2, 1, 1}};
    return image * gate;
  });
  Network<Graph<net>, Shape{2, 2, 3}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{1, 2, 3, 4, 5, 3, 2, 2, 2, 2, 2, 2})) ==
        std::vector<float>{3, 6, 9, 12, 15, 9, 4, 4, 4, 4, 4, 4});
  static_assert(broadcast({3, 1}, {1, 4}) == Shape{3, 4} && broadcast({4}, {2, 1}) == Shape{2, 4});
  static_assert(broadcast({3}, {2}).rank() == 0 && broadcast({2, 3}, {3, 2}).rank() == 0);
}

TEST_CASE("Expand refuses shapes to which values cannot be repeated") {
  auto const why = "expand: each axis of the input, aligned with the last axes of the shape, must have its extent or 1";
  CHECK_THROWS_WITH((Expand{{2, 3}}.output_shape({2})), why);
  CHECK_THROWS_WITH((Expand{{3}}.output_shape({1, 3})), why);
  CHECK_THROWS_WITH((Expand{Shape{}}.output_shape({1})), "expand: the shape has no values");
}
