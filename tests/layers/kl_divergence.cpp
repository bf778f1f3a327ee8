#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr KLDivergence make(Shape) { return {.loss_weight = 0.75f}; }
};
}  // namespace

TEST_CASE("KLDivergence keeps the laws of losses") { test::check_own_loss_laws<Maker, LogSoftmax{}, Softmax{}>(); }

TEST_CASE("KLDivergence is 0 between equal distributions, and a target of 0 counts nothing") {
  constexpr KLDivergence loss{.loss_weight = 2};
  CHECK(loss.value(std::log(0.25), 0.25) == 0);
  CHECK(loss.value(-3.0, 0.0) == 0);
  CHECK(loss.value(-1.0, 1.0) == 2);
  CHECK(loss.gradient(-1.0, 0.25) == -0.5);
  CHECK(loss.target_gradient(-3.0, 0.0) == 6);
  CHECK(loss.target_gradient(-3.0, 1.0) == 8);
}
