// Keras' convolutions and poolings, with their paddings.
#pragma once

#include "keras_builder.hpp"

namespace coldpress::convert::keras {

// Each adds a layer of the class that it is called after.
Value add_conv1d(Builder& builder, Layer const& layer, Value x);
Value add_conv2d(Builder& builder, Layer const& layer, Value const& x);
Value add_depthwise(Builder& builder, Layer const& layer, Value const& x);
Value add_separable(Builder& builder, Layer const& layer, Value const& x);
Value add_conv2d_transpose(Builder& builder, Layer const& layer, Value const& x);
Value add_pooling1d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode);
Value add_pooling2d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode);

}  // namespace coldpress::convert::keras
