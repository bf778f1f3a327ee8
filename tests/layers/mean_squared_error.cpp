#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr MeanSquaredError make(Shape) { return {}; }
};
}  // namespace

TEST_CASE("MeanSquaredError keeps the laws of losses") { test::check_loss_laws<Maker, TanH{}, Softmax{}>(); }
