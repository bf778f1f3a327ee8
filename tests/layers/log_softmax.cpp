#include "support/golden.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LogSoftmax keeps the laws of layers") { test::check_layer_laws<LogSoftmax{}>(); }

// From tests/support/golden_values.py. The 12 values are one sample, whatever its shape.
TEST_CASE("LogSoftmax gives the values of an independent computation") {
  test::check_golden<LogSoftmax{}>(
      {-2.92461807834, -4.79624145641, -3.54624145641, -1.79624145641, -7.17124145641, -3.98374145641, -2.29624145641,
       -5.54624145641, -3.79624145641, -4.17124145641, -0.546241456413, -6.04624145641},
      {-2.42563694702, 0.485711208097, 1.20012721581, -1.03699805735, 0.373670935320, 1.96779971038, -1.17407312106,
       0.0557504526260, -0.288840963380, 1.47330502229, -1.50172164829, 0.870906192578});
}

TEST_CASE("LogSoftmax holds far from 0") {
  Network<Sequential<LogSoftmax{}>, Shape{3}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{1e4f, 0, -1e4f})) ==
        std::vector<float>{0, -1e4f, -2e4f});
}
