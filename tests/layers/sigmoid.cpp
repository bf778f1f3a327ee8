#include "support/golden.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Sigmoid keeps the laws of layers") { test::check_layer_laws<Sigmoid{}>(); }

// From tests/support/golden_values.py. Juice's own tests say 0.7542897122404972 and -0.432349179202474 for the first.
TEST_CASE("Sigmoid gives the values of an independent computation") {
  test::check_golden<Sigmoid{}>(
      {0.754289712240, 0.320821300825, 0.622459331202, 0.904650535101, 0.0420877279156, 0.515619915723, 0.851952801968,
       0.182425523806, 0.562176500886, 0.468790626626, 0.970687769249, 0.119202922022},
      {-0.432349179202, 0.108947496881, 0.293754640252, -0.0646934583319, 0.0151186316529, 0.499512036466,
       -0.126129225187, 0.00932165325440, -0.0615335206844, 0.373538962520, -0.0142265119399, 0.0918693872281});
}
