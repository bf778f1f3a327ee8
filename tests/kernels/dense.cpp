#include "support/forms.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("dense networks over linked kernels have the bits of those that are compiled in") {
  check_forms<Sequential<Linear{33}, ReLU{}, LeakyReLU{}, Linear{10}, LogSoftmax{}>, Shape{7, 3},
              NegativeLogLikelihood{10}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}>();
  check_forms<Sequential<Linear{33}, TanH{}, Dropout{.probability = 0.3f}, GELU{}, Linear{5}>, Shape{70},
              MeanSquaredError{}, Adam{.learning_rate = 0.01f}>();
}
TEST_CASE("and so have other pointwise layers, and a softmax inside") {
  check_forms<
      Sequential<Linear{33}, Sigmoid{}, Exponential{}, Power{.power = 2, .shift = 0.5f}, Linear{21}, SiLU{}, Softplus{},
                 ELU{}, Identity{}, Threshold{.epsilon = -0.5f}, RandomMask{.probability = 0.3f}, Softmax{}, Linear{4}>,
      Shape{7}, MeanSquaredError{}, Nesterov{.learning_rate = 0.01f, .momentum = 0.5f}>();
}
