// The random numbers of coldpress/testing/random.hpp, in the tests' namespace.
#pragma once

#include <coldpress/testing/random.hpp>

namespace coldpress::test {
using namespace testing;
}
