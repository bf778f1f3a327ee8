// The random numbers of coldpress/testing/random.hpp, in the tests' namespace, and how many cases are made of them.
#pragma once

#include <coldpress/testing/random.hpp>

namespace coldpress::test {
using namespace testing;

/// How many random cases a test tries: all at night, a quarter of them for each commit.
constexpr std::uint64_t cases(std::uint64_t at_night) { return COLDPRESS_NIGHTLY ? at_night : (at_night + 3) / 4; }

}  // namespace coldpress::test
