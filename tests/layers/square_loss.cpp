#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr SquareLoss make(Shape) { return {.loss_weight = 0.75f}; }
};
struct HingeMaker {
  static constexpr Hinge make(Shape) { return {.loss_weight = 0.75f}; }
};
}  // namespace

TEST_CASE("SquareLoss keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }
TEST_CASE("Hinge keeps the laws of losses") { test::check_own_loss_laws<HingeMaker, TanH{}, Sigmoid{}>(); }
TEST_CASE("Hinge has no gradient beyond the margin, nor on it, and its weight is one of the value, too") {
  constexpr Hinge hinge{.loss_weight = 2};
  CHECK(hinge.value(3.0, 1.0) == 0);
  CHECK(hinge.value(-0.5, 1.0) == 3);
  CHECK(hinge.gradient(3.0, 1.0) == 0);
  CHECK(hinge.gradient(-1.0, -1.0) == 0);
  CHECK(hinge.gradient(0.5, -1.0) == 2);
  CHECK(hinge.target_gradient(0.5, 1.0) == -1);
  CHECK(std::isnan(hinge.value(std::nan(""), 1.0)));
}
