// Reads the cases of tests/golden/*.txt: a line with a name, followed by lines with a word and its numbers.
#pragma once

#include "support/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace coldpress::test {

/// Whether the reference is compared with golden values as well, which doubles what is compiled. By day the laws of
/// layers and losses compare it with the CPU, on random values.
inline constexpr bool golden_reference = COLDPRESS_NIGHTLY;

using GoldenCase = std::map<std::string, std::vector<double>>;

inline std::map<std::string, GoldenCase> golden_cases(std::string const& file) {
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  std::string const path = std::string{source ? source : "."} + "/tests/golden/" + file;
  std::ifstream in{path};
  INFO(path);
  REQUIRE(in);
  std::map<std::string, GoldenCase> cases;
  GoldenCase* current = nullptr;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string word;
    words >> word;
    std::vector<double> numbers;
    for (double number; words >> number;) numbers.push_back(number);
    if (numbers.empty()) {
      current = &cases[word];
    } else {
      REQUIRE(current);
      (*current)[word] = numbers;
    }
  }
  return cases;
}

}  // namespace coldpress::test
