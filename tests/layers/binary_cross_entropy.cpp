#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr BinaryCrossEntropy make(Shape) { return {.loss_weight = 0.75f}; }
};
struct KLMaker {
  static constexpr GaussianKL make(Shape) { return {.loss_weight = 0.75f}; }
};
}  // namespace

TEST_CASE("BinaryCrossEntropy keeps the laws of losses") { test::check_own_loss_laws<Maker, Sigmoid{}, Sigmoid{}>(); }
TEST_CASE("BinaryCrossEntropy stays finite, and learns from what is quite wrong") {
  constexpr BinaryCrossEntropy loss;
  CHECK(loss.value(0.0f, 1.0f) == Approx(23 * std::log(2.0)));
  CHECK(loss.value(1.0f, 0.0f) == Approx(23 * std::log(2.0)));
  CHECK(loss.value(1.0f, 1.0f) == Approx(0x1p-23));
  CHECK(loss.gradient(0.0f, 1.0f) == Approx(-0x1p23));
  CHECK(loss.gradient(1.0f, 0.0f) == Approx(0x1p23));
  // What is quite right has the slopes of -log(1 - p) and -log p where p is clamped, not none.
  CHECK(loss.gradient(0.0f, 0.0f) == Approx(1));
  CHECK(loss.gradient(1.0f, 1.0f) == Approx(-1));
  CHECK(std::isnan(loss.value(std::nanf(""), 1.0f)));
}
TEST_CASE("GaussianKL keeps the laws of losses where both its values are the network's") {
  test::Violations violations;
  test::hidden_loss_law<KLMaker::make({5}), 5, TanH{}, Softplus{}>(3, 1, violations);
  test::hidden_loss_law<KLMaker::make({19}), 19, TanH{}, Sigmoid{}>(7, 2, violations);
  test::check_none(violations);
}
TEST_CASE("GaussianKL of the standard normal distribution is nothing") {
  CHECK(GaussianKL{}.value(0.0, 1.0) == 0);
  CHECK(GaussianKL{}.target_gradient(0.0, 1.0) == 0);
}
