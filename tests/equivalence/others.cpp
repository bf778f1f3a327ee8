#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("Linear is the same as a type, as a config and in a file") { test::check_equivalence_of<Linear{17}>(); }
TEST_CASE("Dropout is the same as a type, as a config and in a file") {
  test::check_equivalence_of<Dropout{.probability = 0.4f, .seed = 9}>();
}
TEST_CASE("Reshape is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{30}, Reshape{Shape{5, 6}}, ReLU{}, Reshape{Shape{30}}, Linear{3}>,
                          Shape{7, 2}>();
  test::check_equivalence<Sequential<Reshape{Shape{1, 14}}, Linear{3}, Reshape{Shape{3, 1}}>, Shape{7, 2}>();
}
