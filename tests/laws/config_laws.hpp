// The laws of layers for networks from configs.
#pragma once

// What they compile does not depend on the layer, so that any number of layers and shapes takes the compiler no longer.

#include <coldpress/layers.hpp>
#include <coldpress/testing/laws.hpp>

namespace coldpress::test {

/// Everything that the built-in layer number `type` of BuiltinLayers does wrong as a config on the backend
/// like_static(), compared with the reference in double: on the shapes that are given, or for a layer of several
/// inputs, of its inputs; if there are none, on shapes of all ranks.
testing::Violations violations_of_config(int type, void const* layer, std::vector<Shape> const& shapes);

template <class L>
testing::Violations violations_of_config(L const& layer, std::vector<Shape> const& shapes) {
  return violations_of_config(index_of<L>(BuiltinLayers::Plain{}), &layer, shapes);
}

}  // namespace coldpress::test
