// Expected values that a script in tests/golden wrote: a heading, then lines of numbers.
#pragma once

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace coldpress::test {

/// The `count` lines after the heading, in tests/golden/<name>.
inline std::vector<std::vector<double>> golden_lines(std::string const& name, std::string const& heading, int count) {
  char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
  std::filesystem::path const tests = std::filesystem::path{__FILE__}.parent_path() / "..";
  std::filesystem::path const path = (root ? std::filesystem::path{root} / "tests" : tests) / "golden" / name;
  std::ifstream file{path};
  INFO(path << ", " << heading);
  REQUIRE(file);
  std::string line;
  while (std::getline(file, line) && line != heading) {
  }
  REQUIRE(line == heading);
  std::vector<std::vector<double>> lines;
  for (int i = 0; i < count && std::getline(file, line); ++i) {
    std::istringstream numbers{line};
    lines.emplace_back(std::istream_iterator<double>{numbers}, std::istream_iterator<double>{});
    REQUIRE(!lines.back().empty());
  }
  REQUIRE(static_cast<int>(lines.size()) == count);
  return lines;
}

}  // namespace coldpress::test
