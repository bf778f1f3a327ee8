#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("Power is the same as a type, as a config and in a file") {
  test::check_equivalence_of<Power{.power = 3, .scale = 0.0625f, .shift = 0.5f}>();
  test::check_equivalence_of<Power{.power = 2.25f, .scale = 0.0625f, .shift = 1}>();
}
