#include "support/golden.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Softmax keeps the laws of layers") { test::check_layer_laws<Softmax{}>(); }

// From tests/support/golden_values.py. The 12 values are one sample, whatever its shape.
TEST_CASE("Softmax gives the values of an independent computation") {
  test::check_golden<Softmax{}>(
      {0.0536851915355, 0.00826073711429, 0.0288328056103, 0.165921340322, 0.000768368243189, 0.0186158584551,
       0.100636380006, 0.00390209591378, 0.0224550115874, 0.0154330887192, 0.579122381685, 0.00236674080884},
      {-0.0961203382146, 0.00861043257263, 0.0516779668983, -0.0344565140401, 0.000704848957227, 0.0473276970180,
       -0.0460580271936, 0.00236011338966, 0.00656432370676, 0.0315194945647, 0.0245155443026, 0.00335445803842});
}

TEST_CASE("Softmax is exact where all values are equal, and holds far from 0") {
  Network<Sequential<Softmax{}>, Shape{4}> network;
  for (float const value : {0.0f, 1e4f, -1e4f, 88.0f}) {
    for (float const y : network.forward(std::vector<float>(4, value))) CHECK(y == 0.25f);
  }
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{1e4f, 0, -1e4f, 0})) == std::vector<float>{1, 0, 0, 0});
}

TEST_CASE("Softmax passes a NaN on to its whole sample and to no other") {
  Network<Sequential<Softmax{}>, Shape{19}> network;
  std::vector<float> x(38, 1.0f);
  x[7] = std::numeric_limits<float>::quiet_NaN();
  auto const y = network.forward(x);
  for (float const value : y.sample(0)) CHECK(std::isnan(value));
  for (float const value : y.sample(1)) CHECK(value == Approx(1.0 / 19));
}
