#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("LeakyReLU is the same as a type, as a config and in a file") {
  test::check_equivalence_of<LeakyReLU{.slope = 0.25f}>();
}
TEST_CASE("Exponential is the same as a type, as a config and in a file") {
  test::check_equivalence_of<Exponential{}>();
}
TEST_CASE("RandomMask is the same as a type, as a config and in a file") {
  test::check_equivalence_of<RandomMask{.probability = 0.4f, .seed = 9}>();
}
TEST_CASE("Threshold is the same as a type, as a config and in a file") {
  test::check_equivalence_of<Threshold{.epsilon = -0.5f}>();
}
TEST_CASE("GELU is the same as a type, as a config and in a file") {
  test::check_equivalence_of<GELU{}>();
  test::check_equivalence_of<GELU{.approximate = true}>();
}
TEST_CASE("SiLU is the same as a type, as a config and in a file") { test::check_equivalence_of<SiLU{}>(); }
TEST_CASE("Softplus is the same as a type, as a config and in a file") {
  test::check_equivalence_of<Softplus{.beta = 2}>();
}
TEST_CASE("ELU is the same as a type, as a config and in a file") { test::check_equivalence_of<ELU{.alpha = 0.5f}>(); }
TEST_CASE("Identity is the same as a type, as a config and in a file") { test::check_equivalence_of<Identity{}>(); }
TEST_CASE("HardTanh is the same as a type, as a config and in a file") { test::check_equivalence_of<HardTanh{}>(); }
TEST_CASE("LeakyHardTanh is the same as a type, as a config and in a file") {
  test::check_equivalence_of<LeakyHardTanh{}>();
}
TEST_CASE("HardSwish is the same as a type, as a config and in a file") { test::check_equivalence_of<HardSwish{}>(); }
TEST_CASE("Softsign is the same as a type, as a config and in a file") { test::check_equivalence_of<Softsign{}>(); }
