#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("Convolution and Pooling of images are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<
          Convolution{.num_output = 6, .filter_shape = {3, 2}, .padding = {1, 0}}, ReLU{},
          Pooling{.filter_shape = 2, .stride = 2},
          Convolution{.num_output = 4, .filter_shape = 2, .groups = 2, .has_bias = false}, Dropout{.probability = 0.3f},
          Pooling{
              .mode = PoolingMode::average, .filter_shape = 3, .stride = 2, .padding = 1, .rounding = Rounding::ceil},
          TanH{}, Linear{3}>,
      Shape{2, 11, 13}>();
}
TEST_CASE("ConvolutionTranspose is the same as a type, as a config and in a file") {
  test::check_equivalence<
      Sequential<Convolution{.num_output = 6, .filter_shape = 3, .stride = 2}, ReLU{},
                 ConvolutionTranspose{
                     .num_output = 4, .filter_shape = {3, 2}, .stride = 2, .output_padding = {1, 0}, .groups = 2},
                 TanH{},
                 ConvolutionTranspose{
                     .num_output = 3, .filter_shape = 3, .padding = 1, .has_bias = false, .weight = Xavier{}},
                 Dropout{.probability = 0.3f}, Linear{3}>,
      Shape{2, 9, 7}>();
}
TEST_CASE("Pad and Resize are the same as types, as a config and in a file") {
  test::check_equivalence<Sequential<Pad{.mode = PadMode::reflect, .before = {1, 2}, .after = {0, 1}},
                                     Convolution{.num_output = 4, .filter_shape = 3}, Resize{.factor = {2, 1}}, ReLU{},
                                     Pad{.mode = PadMode::replicate, .axis = -1, .before = 1},
                                     Resize{.mode = ResizeMode::linear, .size = 5},
                                     Pad{.axis = 0, .after = {2, 0, 0}, .value = 0.25f}, Linear{3}>,
                          Shape{2, 6, 7}>();
}
TEST_CASE("Convolution of sequences is the same as a type, as a config and in a file") {
  test::check_equivalence<
      Sequential<Convolution{.num_output = 18, .filter_shape = 3, .dilation = 2}, Sigmoid{},
                 Convolution{.num_output = 5, .filter_shape = 2, .stride = 2, .weight = Xavier{}}, Linear{2}>,
      Shape{7, 3}>();
}
