// Names of layers, made of those of an ONNX model.
#pragma once

#include "onnx_graph.hpp"

#include <string_view>

namespace coldpress::convert::onnx {

/// The name of the producer in models that write_onnx has written.
inline constexpr std::string_view own_producer = "coldpress";

/// The name without what a terminal would not show as it is, and without spaces; dots instead of slashes and colons.
std::string valid_name(std::string const& name);

/// What the layer of a node is called: as the module whose parameter one of its constants is ("layer1.0.conv1"), or
/// else as the path in the node's name says. Newer exporters of PyTorch keep the first, older ones the second.
/// `own` says that write_onnx wrote the model: nodes have the names of layers, or of a layer and an operator in it.
std::string name_of(Node const& node, std::vector<Constant> const& constants, bool own = false);

}  // namespace coldpress::convert::onnx
