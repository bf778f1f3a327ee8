#pragma once

#include <coldpress/testing/compare.hpp>

namespace coldpress::test {
using namespace testing;
}
