#include "support/forms.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("networks of images over linked kernels have the bits of those that are compiled in") {
  check_forms<Sequential<Convolution{.num_output = 5, .filter_shape = 3, .padding = 1}, BatchNormalization{}, ReLU{},
                         Pooling{.filter_shape = 2, .stride = 2}, Convolution{.num_output = 3, .filter_shape = {3, 2}},
                         Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 1}, Flatten{}, Linear{4}>,
              Shape{2, 12, 11}, MeanSquaredError{}, Sgd{.learning_rate = 0.01f}, SolverOptions{.clip_gradients = 1}>();
}
TEST_CASE("and so have those with convolutions of several kinds, whose kernels have several sizes") {
  check_forms<Sequential<Convolution{.num_output = 7, .filter_shape = 5, .padding = 2}, ReLU{},
                         Convolution{.num_output = 13, .filter_shape = 1},
                         Convolution{.num_output = 13, .filter_shape = 3, .groups = 13},
                         Convolution{.num_output = 9, .filter_shape = {3, 2}, .stride = 2}, Linear{3}>,
              Shape{3, 20, 21}>();
#if COLDPRESS_NIGHTLY
  check_forms<Sequential<Convolution{.num_output = 26, .filter_shape = 1, .stride = 2},
                         Convolution{.num_output = 70, .filter_shape = 3, .padding = 1},
                         Convolution{.num_output = 4, .filter_shape = 4, .groups = 2}, GlobalAveragePooling{}>,
              Shape{2, 26, 25}>();  // with filters that are packed
#endif
}
#if COLDPRESS_NIGHTLY
TEST_CASE("and so have those with transposed convolutions") {
  check_forms<Sequential<Convolution{.num_output = 5, .filter_shape = 3, .stride = 2}, ReLU{},
                         ConvolutionTranspose{.num_output = 6, .filter_shape = 4, .stride = 2, .padding = 1}, SiLU{},
                         ConvolutionTranspose{.num_output = 4, .filter_shape = {3, 2}, .groups = 2, .has_bias = false},
                         Linear{4}>,
              Shape{2, 9, 8}, MeanSquaredError{}, Sgd{.learning_rate = 0.01f}>();
}
#endif
#if COLDPRESS_NIGHTLY
TEST_CASE("and so have those that pad and resize") {
  check_forms<Sequential<Linear{4 * 5 * 6}, Reshape{Shape{4, 5, 6}},
                         Pad{.mode = PadMode::reflect, .before = {1, 4}, .after = {0, 3}}, TanH{},
                         Resize{.mode = ResizeMode::linear, .size = {9, 19}},
                         Pad{.mode = PadMode::replicate, .axis = 0, .before = 1, .after = 2}, Resize{.factor = {2, 1}},
                         Pad{.after = 1, .value = 2}, Linear{3}>,
              Shape{3}>();
}
#endif
TEST_CASE("and so have those with normalisations between and over channels, crops and means") {
  check_forms<
      Sequential<Linear{6 * 5 * 7}, Reshape{Shape{6, 5, 7}}, LRN{.size = 3}, TanH{},
                 ChannelPooling{.filter_size = 3, .stride = 2, .padding = {1, 0}},
                 LRN{.size = 3, .power = 0.6f, .mode = LRNMode::within},
                 Crop{.size = {3, 4}, .random_crop = true, .random_mirror = true, .seed = 7},
                 ChannelPooling{.mode = PoolingMode::average, .filter_size = 2, .axis = -1}, GlobalAveragePooling{}>,
      Shape{3}, MeanSquaredError{}, Adagrad{.learning_rate = 0.01f}>();
}
