// Several nodes that newer versions of ONNX have one operator for.
#pragma once

#include "onnx_network.hpp"

namespace coldpress::convert::onnx {

/// What a first conversion of a model has found out about its values.
struct Known {
  std::map<std::string, Constant> constants = {};
  std::map<std::string, std::vector<Axis>> axes = {};  // of values that are computed at run time
  Index samples = 0;                                   // that the model is written for; 0: any number
};

/// Replaces what is a Gelu, Swish, Softplus, LayerNormalization, RMSNormalization, Attention, or MatMul with a bias by
/// that operator; moves a Pad, and the removal of the last outputs, into a convolution; takes parts of a value
/// directly, and not out of a sequence of tensors; makes what selects all values in their order a Reshape; and makes
/// all known constants initialisers. Returns whether it has found any of these patterns.
bool rewrite(Graph& graph, Known const& known);

}  // namespace coldpress::convert::onnx
