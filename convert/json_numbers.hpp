// Arrays of numbers as lists in lists of a JSON text.
#pragma once

#include "json_node.hpp"
#include "keras_layout.hpp"

namespace coldpress::convert::keras {

/// The numbers of a list of that shape. Throws FormatError with the place of a list that has another size, or of what
/// is no number within the range of a float.
[[nodiscard]] Array numbers(json::Node const& node, std::vector<Index> shape);

}  // namespace coldpress::convert::keras
