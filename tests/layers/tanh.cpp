#include "support/golden.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("TanH keeps the laws of layers") { test::check_layer_laws<TanH{}>(); }

// From tests/support/golden_values.py. Juice's own tests say 0.8081328403503516 and -0.809289851658030 for the first.
TEST_CASE("TanH gives the values of an independent computation") {
  test::check_golden<TanH{}>(
      {0.808132840350, -0.635148952387, 0.462117157260, 0.978026114739, -0.996146530673, 0.0624187467475,
       0.941375538497, -0.905148253645, 0.244918662404, -0.124353001772, 0.998177897611, -0.964027580076},
      {-0.809289851658, 0.298292904141, 0.983059666207, -0.0325986891667, 0.00288453353530, 1.99220780011,
       -0.113812095519, 0.0112941649327, -0.235003712202, 1.47680449643, -0.00182044236024, 0.0618194717465});
}
