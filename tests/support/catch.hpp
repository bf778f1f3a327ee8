// The only file that includes Catch2, whose versions 2 and 3 differ in their headers and in the namespace of Approx.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
