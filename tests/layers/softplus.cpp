#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Softplus keeps the laws of layers") { test::check_layer_laws<Softplus{.beta = 1.5f}>(); }

TEST_CASE("Softplus is x or 0 far away, and its gradient stays right where the output is small") {
  float const infinity = std::numeric_limits<float>::infinity();
  Network<Sequential<Softplus{}>, Shape{5}> network;
  decltype(network)::TrainingWorkspace workspace;
  auto const y = test::copy_of<float>(
      network.forward_training(std::vector<float>{1e4f, -1e4f, -20, infinity, -infinity}, workspace));
  CHECK(y[0] == 1e4f);
  CHECK(y[1] == 0);
  CHECK(y[3] == infinity);
  CHECK(y[4] == 0);
  auto const dx = test::copy_of<float>(network.backward(std::vector<float>(5, 1.0f), workspace));
  CHECK(dx[0] == 1);
  CHECK(dx[1] == 0);
  CHECK(dx[3] == 1);
  for (float const value : {y[2], dx[2]}) CHECK(value == Approx(2.0611536e-9).epsilon(1e-6));  // e^-20
}

TEST_CASE("Softplus of a finite number is finite, also where beta x is not") {
  auto const check = []<class Backend>() {
    using T = typename Backend::Scalar;
    Network<Sequential<Softplus{.beta = 3}>, Shape{2}, DynamicBatch, Backend> network;
    typename decltype(network)::TrainingWorkspace workspace;
    T const large = std::numeric_limits<T>::max() / 2;
    auto const y = test::copy_of<T>(network.forward_training(std::vector<T>{large, -large}, workspace));
    CHECK((y[0] == large && y[1] == 0));
    auto const dx = test::copy_of<T>(network.backward(std::vector<T>(2, 1), workspace));
    CHECK((dx[0] == 1 && dx[1] == 0));
  };
  check.operator()<DefaultBackend>(), check.operator()<Reference<float>>(), check.operator()<Reference<double>>();
}

TEST_CASE("Softplus refuses a beta that is not above 0") {
  for (float const beta :
       {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(Softplus{.beta = beta}.output_shape({3}), "softplus: beta must be a finite number above 0");
}
