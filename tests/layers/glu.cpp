#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Glu keeps the laws of layers: with a gate that needs its input, along the last axis") {
  test::check_laws_at<Glu{.gate = GluGate::gelu}, Shape{3, 38}>();
}
TEST_CASE("Glu keeps the laws of layers: with one that does not, along the first axis") {
  test::check_values_at<Glu{.axis = 0}, Shape{4, 3, 3}>();
}

TEST_CASE("the second half of Glu's input is the gate") {
  Network<Sequential<Glu{.gate = GluGate::relu}>, Shape{6}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{1, 2, 3, -1, 2, 0.5f})) ==
        std::vector<float>{0, 4, 1.5f});
}

TEST_CASE("Glu refuses an axis that has no halves, and a gate that is none") {
  CHECK_THROWS_WITH((Glu{}.output_shape({4, 3})), "glu: the extent of the axis must be even");
  CHECK_THROWS_WITH((Glu{.gate = static_cast<GluGate>(9)}.output_shape({4})), "glu: gate is not one of its type");
}
