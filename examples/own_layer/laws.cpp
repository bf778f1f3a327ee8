// Tests this project's layer with the laws for layers: gradients, fusion, and the CPU against the reference.
#include "snake.hpp"

#include <coldpress/testing.hpp>

#include <cstdio>
#include <string>

int main() {
  auto const violations = coldpress::testing::violations<Snake{.frequency = 0.5f}>();
  for (std::string const& sentence : violations) std::fprintf(stderr, "%s\n", sentence.c_str());
  return violations.empty() ? 0 : 1;
}
