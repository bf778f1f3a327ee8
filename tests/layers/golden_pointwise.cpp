// Pointwise layers give PyTorch's values, forward and backward.
#include "support/golden_layers.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("more activations are PyTorch's") {
  check_golden_layer<LeakyReLU{.slope = 0.25f}, Shape{7}>("leaky_relu");
  check_golden_layer<Exponential{}, Shape{7}>("exponential");
  check_golden_layer<Threshold{.epsilon = -0.3828125f}, Shape{7}>("threshold");
  check_golden_layer<GELU{}, Shape{7}>("gelu");
  check_golden_layer<GELU{.approximate = true}, Shape{7}>("gelu_approximate");
  check_golden_layer<SiLU{}, Shape{7}>("silu");
  check_golden_layer<Softplus{}, Shape{7}>("softplus");
  check_golden_layer<Softplus{.beta = 2.5f}, Shape{7}>("softplus_beta");
  check_golden_layer<ELU{}, Shape{7}>("elu");
  check_golden_layer<ELU{.alpha = 0.75f}, Shape{7}>("elu_alpha");
  check_golden_layer<HardSigmoid{.alpha = 0.75f, .beta = 0.25f}, Shape{7}>("hard_sigmoid");
  check_golden_layer<Mish{}, Shape{7}>("mish");
  check_golden_layer<LogSigmoid{}, Shape{7}>("log_sigmoid");
  check_golden_layer<Clip{.min = -0.5f, .max = 1.25f}, Shape{7}>("clip");
}
TEST_CASE("Power is PyTorch's") {
  check_golden_layer<Power{.power = 2, .scale = 0.5f, .shift = 0.1328125f}, Shape{7}>("power_2");
  check_golden_layer<Power{.power = 3, .scale = 0.5f, .shift = 0.1328125f}, Shape{7}>("power_3");
  check_golden_layer<Power{.power = -1, .scale = 0.5f, .shift = 1.25f}, Shape{7}>("power_-1");
  check_golden_layer<Power{.power = 0.5f, .scale = 0.5f, .shift = 1.25f}, Shape{7}>("power_0.5");
  check_golden_layer<Power{.power = -0.5f, .scale = 0.5f, .shift = 1.25f}, Shape{7}>("power_-0.5");
  check_golden_layer<Power{.power = 2.25f, .scale = 0.5f, .shift = 1.25f}, Shape{7}>("power_2.25");
}
