#include <coldpress/core/counted.hpp>

#include "support/catch.hpp"

#include <cstdint>

using namespace coldpress;

TEST_CASE("a number and a noun agree") {
  CHECK(counted(1, "sample") == "1 sample");
  CHECK(counted(0, "sample") == "0 samples");
  CHECK(counted(-1, "step") == "-1 steps");
  CHECK(counted(std::uint64_t{2}, "class") == "2 classes");
  CHECK(counted(1, "class") == "1 class");
  CHECK(counted(3, "entry") == "3 entries");
  CHECK(counted(1, "entry") == "1 entry");
}
