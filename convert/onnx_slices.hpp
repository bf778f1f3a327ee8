// Parts of values.
#pragma once

#include "onnx_operators.hpp"

namespace coldpress::convert::onnx {

/// The part [begin, end) of a value along an axis. `name` tells the layer from others of the node.
Value part_of(Network& network, Value const& x, int axis, Index begin, Index end, std::string const& name);

/// The places with these numbers along an axis, each of which is one of the axis.
Value places_of(Network& network, Value const& x, int axis, std::vector<Index> const& numbers);

}  // namespace coldpress::convert::onnx
