// Layers without windows and steps give PyTorch's values, forward and backward.
#include "support/golden_layers.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("Linear is PyTorch's") {
  check_golden_layer<Linear{4}, Shape{2, 3}>("linear");
  check_golden_layer<Linear{.output_size = 5, .has_bias = false, .last_axis = true}, Shape{3, 2, 4}>(
      "linear_last_axis");
  check_golden_layer<Linear{.output_size = 1, .has_bias = false, .last_axis = true}, Shape{4, 3}>(
      "linear_last_axis_one");
}
TEST_CASE("activations are PyTorch's") {
  check_golden_layer<ReLU{}, Shape{7}>("relu_row");
  check_golden_layer<ReLU{}, Shape{2, 3, 2}>("relu_image");
  check_golden_layer<TanH{}, Shape{7}>("tanh_row");
  check_golden_layer<TanH{}, Shape{2, 3, 2}>("tanh_image");
  check_golden_layer<Sigmoid{}, Shape{7}>("sigmoid_row");
  check_golden_layer<Sigmoid{}, Shape{2, 3, 2}>("sigmoid_image");
}
TEST_CASE("Softmax and LogSoftmax are PyTorch's, over each whole sample") {
  check_golden_layer<Softmax{}, Shape{7}>("softmax_row");
  check_golden_layer<Softmax{}, Shape{2, 3, 2}>("softmax_image");
  check_golden_layer<LogSoftmax{}, Shape{7}>("log_softmax_row");
  check_golden_layer<LogSoftmax{}, Shape{2, 3, 2}>("log_softmax_image");
}
