#include "support/forms.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("networks of volumes over linked kernels have the bits of those that are compiled in") {
  check_forms<
      Sequential<Convolution{.num_output = 5, .filter_shape = 3, .padding = 1}, BatchNormalization{}, ReLU{},
                 Pooling{.filter_shape = 2, .stride = 2},
                 Convolution{.num_output = 6, .filter_shape = {3, 2, 1}, .padding = {1, 0, 0}}, TanH{},
                 ConvolutionTranspose{.num_output = 3, .filter_shape = 2, .stride = {2, 1, 1}}, Flatten{}, Linear{4}>,
      Shape{2, 4, 9, 8}, MeanSquaredError{}, Sgd{.learning_rate = 0.01f}, SolverOptions{.clip_gradients = 1}>();
}
