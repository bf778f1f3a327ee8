// The laws of coldpress/testing.hpp as checks of Catch2.
#pragma once

// Where tests link the kernels, built-in layers are checked as configs, which are compiled once for all layers
// (laws/config_laws.hpp); the tests of equivalence hold network types to the same bits. Where kernels are compiled into
// the tests, each layer is checked as a type, and at night as both.

#include <coldpress/testing.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

#include "laws/config_laws.hpp"

/// Whether the test is linked with the laws of configs.
#if !defined COLDPRESS_LAWS_OF_CONFIGS
#define COLDPRESS_LAWS_OF_CONFIGS false
#endif

namespace coldpress::test {

/// Whether the laws of a layer are checked as a config, and whether as a type.
template <class L>
constexpr bool checked_as_config = COLDPRESS_LAWS_OF_CONFIGS ? index_of<L>(BuiltinLayers::Plain{}) >= 0 && !Source<L>
                                                             : false;
template <class L>
constexpr bool checked_as_type = COLDPRESS_NIGHTLY || !checked_as_config<L>;

inline void check_none(Violations const& violations) {
  for (std::string const& violation : violations) FAIL_CHECK(violation);
  SUCCEED();
}
/// All laws on the given shapes, for a layer that does not accept every shape, or that has several inputs. For another
/// layer no shapes are given.
template <Layer auto layer, Shape... shapes>
void check_laws_at() {
  using L = std::remove_cvref_t<decltype(layer)>;
  require_input_gradient<L>();
  if constexpr (checked_as_config<L>) check_none(violations_of_config(builtin<BuiltinLayers>(layer), {shapes...}));
  if constexpr (checked_as_type<L>) check_none(violations<layer, shapes...>());
}
template <Layer auto layer>
void check_layer_laws() {
  check_laws_at<layer>();
}

/// The same for one more setting of a layer that another check finds to keep all laws. As a type, only the laws of its
/// values are checked for each commit, which take two thirds of the time to compile; at night all.
template <Layer auto layer, Shape... shapes>
void check_values_at() {
  if constexpr (COLDPRESS_NIGHTLY || checked_as_config<std::remove_cvref_t<decltype(layer)>>) {
    check_laws_at<layer, shapes...>();
  } else {
    check_none(value_violations<layer, shapes...>());
  }
}

}  // namespace coldpress::test
