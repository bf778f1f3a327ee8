// The blocks of vision and sound, as functions, configs and files: forward, backward and training.
#include "support/graph_equivalence.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("a U-Net is the same as a type, as a config and from a file") {
  check_graph_equivalence<
      Graph<graph([](auto x) { return blocks::unet(x, 3, 2) | Convolution{.num_output = 2, .filter_shape = 1}; })>,
      Shape{2, 8, 4}>();
}
TEST_CASE("blocks of MobileNet and ResNet are the same as types, as configs and from files") {
  check_graph_equivalence<Graph<graph([](auto x) {
                            auto const y =
                                blocks::depthwise_separable(blocks::depthwise_separable(x, 5, 2), 4, 1, false);
                            return blocks::basic_residual(blocks::basic_residual(y, 6, 2), 6) | Linear{2};
                          })>,
                          Shape{3, 9, 8}>();
}
TEST_CASE("layers of a WaveNet are the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<graph([](auto x) {
                            auto const one = blocks::wavenet_layer(x, 1), two = blocks::wavenet_layer(one.next(), 2, 3);
                            return (one.skip(5) + two.skip(5)) | ReLU{} |
                                   Convolution{.num_output = 2, .filter_shape = 1};
                          })>,
                          Shape{9, 4}>();
}
