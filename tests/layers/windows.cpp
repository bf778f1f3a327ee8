// Convolution and pooling give PyTorch's values, forward and backward.
#include "support/golden_layers.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("convolutions of images are PyTorch's") {
  check_golden_layer<Convolution{.num_output = 3, .filter_shape = {3, 2}}, Shape{2, 5, 4}>("plain");
  check_golden_layer<Convolution{.num_output = 2, .filter_shape = 3, .stride = {2, 3}, .padding = {2, 1}},
                     Shape{3, 7, 8}>("strided");
  check_golden_layer<Convolution{.num_output = 2, .filter_shape = {2, 3}, .padding = {1, 2}, .dilation = {3, 2}},
                     Shape{2, 6, 7}>("dilated");
  check_golden_layer<Convolution{.num_output = 6, .filter_shape = 2, .padding = 1, .groups = 2}, Shape{4, 4, 4}>(
      "grouped");
}

TEST_CASE("convolutions of sequences are PyTorch's, padded on the left") {
  check_golden_layer<Convolution{.num_output = 4, .filter_shape = 3}, Shape{5, 3}>("sequence");
  check_golden_layer<Convolution{.num_output = 3, .filter_shape = 3, .dilation = 2}, Shape{7, 2}>("dilated_sequence");
  check_golden_layer<Convolution{.num_output = 2, .filter_shape = 4, .stride = 3, .groups = 2}, Shape{8, 4}>(
      "strided_sequence");
}
TEST_CASE("convolutions of sequences that see later steps are PyTorch's") {
  check_golden_layer<Convolution{.num_output = 4, .filter_shape = 4, .same = true, .dilation = 2}, Shape{6, 3}>(
      "sequence_same");
  check_golden_layer<Convolution{.num_output = 2, .filter_shape = 3, .stride = 2, .causal = false, .groups = 2},
                     Shape{9, 4}>("sequence_valid");
  check_golden_layer<
      Convolution{.num_output = 3, .filter_shape = 3, .stride = 2, .padding = 1, .padding_after = 3, .causal = false},
      Shape{7, 2}>("sequence_padded");
  check_golden_layer<
      Convolution{.num_output = 3, .filter_shape = 5, .padding = 6, .padding_after = 7, .causal = false, .dilation = 2},
      Shape{3, 2}>("sequence_far");
}
TEST_CASE("convolutions with other zeros on each side are PyTorch's") {
  check_golden_layer<
      Convolution{
          .num_output = 3, .filter_shape = {3, 2}, .stride = {2, 1}, .padding = {3, 0}, .padding_after = {1, 2}},
      Shape{2, 4, 5}>("around");
  check_golden_layer<Convolution{.num_output = 3, .filter_shape = {2, 4}, .same = true}, Shape{2, 5, 4}>("same");
}

TEST_CASE("transposed convolutions of images are PyTorch's") {
  using Transpose = ConvolutionTranspose;
  check_golden_layer<Transpose{.num_output = 2, .filter_shape = {3, 2}}, Shape{3, 3, 4}>("transposed");
  check_golden_layer<
      Transpose{.num_output = 2, .filter_shape = {3, 4}, .stride = {2, 3}, .padding = {1, 2}, .output_padding = {1, 0}},
      Shape{3, 4, 3}>("transposed_strided");
  check_golden_layer<
      Transpose{
          .num_output = 3, .filter_shape = {2, 3}, .padding = {1, 2}, .output_padding = {2, 1}, .dilation = {3, 2}},
      Shape{2, 3, 4}>("transposed_dilated");
  check_golden_layer<Transpose{.num_output = 6, .filter_shape = 2, .stride = 3, .groups = 2}, Shape{4, 3, 3}>(
      "transposed_grouped");
  check_golden_layer<Transpose{.num_output = 3, .filter_shape = 4, .stride = 2, .padding = 1, .groups = 3},
                     Shape{3, 2, 2}>("transposed_depthwise");
}

TEST_CASE("transposed convolutions of sequences are PyTorch's") {
  using Transpose = ConvolutionTranspose;
  check_golden_layer<Transpose{.num_output = 2, .filter_shape = 3}, Shape{4, 3}>("transposed_sequence");
  check_golden_layer<
      Transpose{.num_output = 6, .filter_shape = 4, .stride = 3, .padding = 1, .output_padding = 2, .groups = 2},
      Shape{5, 4}>("transposed_sequence_strided");
  check_golden_layer<Transpose{.num_output = 17, .filter_shape = 3, .stride = 2, .dilation = 2}, Shape{1, 2}>(
      "transposed_sequence_dilated");
}

TEST_CASE("poolings are PyTorch's") {
  constexpr auto average = PoolingMode::average;
  check_golden_layer<Pooling{.filter_shape = {3, 2}, .stride = 2, .padding = {1, 0}}, Shape{2, 5, 6}>("max");
  check_golden_layer<Pooling{.filter_shape = 3, .stride = 2, .padding = 1, .rounding = Rounding::ceil}, Shape{2, 6, 5}>(
      "max_ceil");
  check_golden_layer<Pooling{.mode = average, .filter_shape = {3, 2}, .stride = {2, 1}, .padding = 1}, Shape{2, 5, 6}>(
      "average");
  check_golden_layer<Pooling{.mode = average, .filter_shape = 3, .stride = 2, .rounding = Rounding::ceil},
                     Shape{1, 6, 5}>("average_ceil");
  check_golden_layer<Pooling{.mode = average, .filter_shape = 3, .stride = 2, .padding = 1, .count_padding = true},
                     Shape{2, 5, 5}>("average_counting");
  check_golden_layer<Pooling{.filter_shape = {2, 2, 3}, .stride = {2, 1, 2}, .padding = {1, 0, 1}}, Shape{2, 4, 3, 5}>(
      "volume");
  check_golden_layer<Pooling{.filter_shape = 3, .stride = 2, .padding = {1, 0}, .padding_after = {0, 1}},
                     Shape{2, 5, 4}>("max_around");
  check_golden_layer<Pooling{.mode = average,
                             .filter_shape = 3,
                             .stride = 2,
                             .padding = {0, 1},
                             .padding_after = {2, 0},
                             .count_padding = true},
                     Shape{2, 5, 5}>("average_around");
}
