#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("Softmax is the same as a type, as a config and in a file") { test::check_equivalence_of<Softmax{}>(); }
TEST_CASE("LogSoftmax is the same as a type, as a config and in a file") { test::check_equivalence_of<LogSoftmax{}>(); }
TEST_CASE("Flatten is the same as a type, as a config and in a file") { test::check_equivalence_of<Flatten{}>(); }
TEST_CASE("BatchNormalization is the same as a type, as a config and in a file") {
  test::check_equivalence_of<BatchNormalization{.momentum = 0.25f, .weight = Constant{1.5f}}>();
}
