#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("ReLU is the same as a type, as a config and in a file") { test::check_equivalence_of<ReLU{}>(); }
TEST_CASE("TanH is the same as a type, as a config and in a file") { test::check_equivalence_of<TanH{}>(); }
TEST_CASE("Sigmoid is the same as a type, as a config and in a file") { test::check_equivalence_of<Sigmoid{}>(); }
