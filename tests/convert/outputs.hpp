// The files beside these tests, and how far outputs are from those of another framework.
#pragma once

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

namespace convert_test {

/// The path of a file in tests/convert.
inline std::string in_source(std::string const& name) {
  char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
  return root ? std::string{root} + "/tests/convert/" + name
              : (std::filesystem::path(__FILE__).parent_path() / name).string();
}

/// The largest difference, as a fraction of the largest expected value.
inline double difference(std::span<float const> found, std::span<float const> expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return most / largest;
}

}  // namespace convert_test
