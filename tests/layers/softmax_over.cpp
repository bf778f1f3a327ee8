#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("SoftmaxOver keeps the laws of layers: channels") { test::check_laws_at<SoftmaxOver{}, Shape{5, 2, 3}>(); }
TEST_CASE("SoftmaxOver keeps the laws of layers: logarithms of the last axis") {
  test::check_values_at<SoftmaxOver{.axis = -1, .logarithm = true}, Shape{3, 17}>();
}

// Its gradient reads what it made, so what follows must not be written over that.
TEST_CASE("the gradient is right before a chain and before a join") {
  using Chained = Sequential<Linear{6}, Reshape{{2, 3}}, SoftmaxOver{.axis = -1}, TanH{}, Power{.scale = 2}>;
  test::Violations violations;
  testing::gradient_law<Chained, Shape{4}>(3, 1, violations);
  test::check_none(violations);
}

TEST_CASE("over the only axis it is Softmax") {
  auto const x = test::Random{1}.values<float>(3 * 71);
  Network<Sequential<Softmax{}>, Shape{71}> whole;
  Network<Sequential<SoftmaxOver{.axis = -1}>, Shape{71}> over;
  CHECK(test::same_bits(whole.forward(x), over.forward(x)));
}

// More lines than are brought into rows at once.
TEST_CASE("every line of a large sample is a distribution of its own") {
  using Net = Network<Sequential<SoftmaxOver{.axis = 1}>, Shape{3, 5, 50}>;
  Net net;
  auto const x = test::Random{2}.values<float>(2 * 750, -5, 5);
  auto const y = test::copy_of<float>(net.forward(x));
  for (std::size_t line = 0; line < 300; ++line) {
    std::size_t const start = line / 50 * 250 + line % 50;
    double mass = 0, total = 0;
    for (std::size_t k = 0; k < 5; ++k) mass += std::exp(static_cast<double>(x[start + 50 * k]));
    for (std::size_t k = 0; k < 5; ++k) {
      total += static_cast<double>(y[start + 50 * k]);
      CHECK(static_cast<double>(y[start + 50 * k]) ==
            Approx(std::exp(static_cast<double>(x[start + 50 * k])) / mass).epsilon(1e-6));
    }
    CHECK(total == Approx(1).epsilon(1e-6));
  }
}
