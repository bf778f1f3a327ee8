// Sums and products of a value and a constant.
#pragma once

#include "onnx_operators.hpp"

namespace coldpress::convert::onnx {

/// scale x + shift, of which one may be null, for constants that leave the shape of x as it is. It is LearnedPositions
/// for sums with a constant for each value of a sequence, a convolution by one step for constants along the first or
/// the last axis, and else one for each value.
Value affine(Network& network, Value const& x, Tensor const* scale, Tensor const* shift);

}  // namespace coldpress::convert::onnx
