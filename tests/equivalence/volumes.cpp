#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("Convolution, Pooling and ConvolutionTranspose of volumes are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<Convolution{.num_output = 6, .filter_shape = {2, 3, 2}, .padding = {1, 1, 0}}, ReLU{},
                 Pooling{.filter_shape = {1, 2, 2}, .stride = {1, 2, 2}}, BatchNormalization{},
                 Convolution{.num_output = 4, .filter_shape = 2, .groups = 2, .has_bias = false}, Dropout{},
                 ConvolutionTranspose{.num_output = 3, .filter_shape = {2, 1, 3}, .stride = {2, 1, 3}}, Linear{3}>,
      Shape{2, 4, 7, 9}>();
}
