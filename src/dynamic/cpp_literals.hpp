// Layers as C++ source.
#pragma once

#include "cpp_names.hpp"
#include "custom_node.hpp"

#include <span>

namespace coldpress::dynamic {

/// For example Linear{.output_size = 10}: the fields that differ from their defaults, with numbers that are read back
/// exactly. `weights`: also the fields of type Weight, which are for training. Throws UnsupportedError for a custom
/// layer.
[[nodiscard]] std::string cpp_literal(GraphLayer const& layer, bool weights, LibraryNames& names);
/// The same for {1, 28, 28}.
[[nodiscard]] std::string cpp_literal(Shape const& shape);

/// Sets the layer's fields of type Weight to what `wanted`, its parameters for inputs of these shapes, have. Returns
/// whether the fields can say all of it.
[[nodiscard]] bool set_weight_fields(GraphLayer& layer, std::vector<Shape> const& in,
                                     std::span<Parameter const> wanted);

}  // namespace coldpress::dynamic
