#pragma once

#include <coldpress/testing/random.hpp>

namespace coldpress::test {
using namespace testing;
}
