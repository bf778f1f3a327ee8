// The values of constants in ONNX's files.
#pragma once

#include "onnx.pb.h"
#include "onnx_graph.hpp"

namespace coldpress::convert::onnx {

/// The constant of a message, whose values are moved out of it. Throws FormatError if there are more or fewer values
/// than the shape says; UnsupportedError for values in another file, and for a type that is no number.
Tensor tensor_of(proto::Tensor& message);

}  // namespace coldpress::convert::onnx
