// The comparisons of coldpress/testing/compare.hpp, in the tests' namespace.
#pragma once

#include <coldpress/testing/compare.hpp>

namespace coldpress::test {
using namespace testing;
}
