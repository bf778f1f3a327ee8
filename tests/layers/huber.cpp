#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr Huber make(Shape) { return {.delta = 0.375f, .loss_weight = 0.75f}; }
};
static_assert(Huber{.loss_weight = 2, .loss_average = Average::values}.weight_for({2, 4}) == 0.25f);
static_assert(Huber{.loss_weight = 2}.weight_for({2, 4}) == 2);
}  // namespace

TEST_CASE("Huber keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }

TEST_CASE("Huber is a parabola up to delta, and straight beyond") {
  constexpr Huber huber{.delta = 2, .loss_weight = 4};
  CHECK(huber.value(1.0, 0.0) == 2);
  CHECK(huber.value(-3.0, 0.0) == 16);  // 4 (2 (3 - 1))
  CHECK(huber.value(2.0, 0.0) == 8);
  CHECK(huber.gradient(1.0, 0.0) == 4);
  CHECK(huber.gradient(-3.0, 0.0) == -8);
  CHECK(huber.gradient(5.0, 0.0) == 8);
  CHECK(huber.target_gradient(5.0, 0.0) == -8);
  CHECK(std::isnan(huber.value(std::nan(""), 1.0)));
}
TEST_CASE("Huber refuses a delta that is not above 0") {
  for (float const delta : {0.0f, -1.0f, std::numeric_limits<float>::infinity()})
    CHECK_THROWS_WITH(Huber{.delta = delta}.target_shape({3}), "huber: delta must be a finite number above 0");
}
