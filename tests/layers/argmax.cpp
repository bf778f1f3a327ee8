#include "support/layer_laws.hpp"

using namespace coldpress;

static_assert(Argmax{.axis = 1}.output_shape({3, 4, 5}) == Shape{3, 1, 5});
static_assert(!LayerTraits<Argmax>::propagates && LayerTraits<Linear>::propagates && LayerTraits<ReLU>::propagates &&
              LayerTraits<Flatten>::propagates);

TEMPLATE_TEST_CASE("the first of equal maxima counts, and a NaN is the largest", "", DefaultBackend,
                   Reference<double>) {
  using T = typename TestType::Scalar;
  Network<Sequential<Argmax{}>, Shape{4}, DynamicBatch, TestType> net;
  T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  CHECK(test::copy_of<T>(net.forward(std::vector<T>{1, 3, 2, 3, -1, -2, -1, -3, infinity, nan, 5, nan, -infinity,
                                                    -infinity, 0, -0.0})) == std::vector<T>{1, 0, 1, 2});
}

TEST_CASE("no gradient passes, and what comes after is trained all the same") {
  using Net = Network<Sequential<Linear{5}, Argmax{}, Linear{2}>, Shape{3}>;
  auto const net = test::random_network<Net>(1);
  Net::TrainingWorkspace workspace;
  auto const x = test::Random{2}.values<float>(4 * 3);
  net.forward_training(x, workspace);
  CHECK(net.backward(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, workspace).size() == 0);
  std::vector<float> before(15), bias(2);
  net.read(workspace.gradients().data(), 0, before);
  net.read(workspace.gradients().data(), 3, bias);
  CHECK(before == std::vector<float>(15, 0.0f));
  CHECK(bias == std::vector<float>{16, 20});
}
