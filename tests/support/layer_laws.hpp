// The laws of coldpress/testing.hpp as checks of Catch2.
#pragma once

#include <coldpress/testing.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace coldpress::test {

inline void check_none(Violations const& violations) {
  for (std::string const& violation : violations) FAIL_CHECK(violation);
  SUCCEED();
}
template <Layer auto layer>
void check_layer_laws() {
  check_none(violations<layer>());
}
/// All laws on the given shapes, for a layer that does not accept every shape, or that has several inputs.
template <Layer auto layer, Shape... shapes>
void check_laws_at() {
  check_none(violations<layer, shapes...>());
}

/// The same for one more setting of a layer that another check finds to keep all laws. For each commit, only the laws
/// of its values are checked, which take two thirds of the time to compile; at night all.
template <Layer auto layer, Shape... shapes>
void check_values_at() {
#if COLDPRESS_NIGHTLY
  check_laws_at<layer, shapes...>();
#else
  check_none(value_violations<layer, shapes...>());
#endif
}

}  // namespace coldpress::test
