// What is made of each kind of Keras' layers.
#pragma once

#include "keras_builder.hpp"

namespace coldpress::convert::keras {

// Each adds a layer of the class that it is called after.
Value add_conv1d(Builder& builder, Layer const& layer, Value const& x);
Value add_depthwise1d(Builder& builder, Layer const& layer, Value const& x);
Value add_separable1d(Builder& builder, Layer const& layer, Value const& x);
Value add_conv1d_transpose(Builder& builder, Layer const& layer, Value const& x);
Value add_conv2d(Builder& builder, Layer const& layer, Value const& x);
Value add_depthwise(Builder& builder, Layer const& layer, Value const& x);
Value add_separable(Builder& builder, Layer const& layer, Value const& x);
Value add_conv2d_transpose(Builder& builder, Layer const& layer, Value const& x);
Value add_conv3d(Builder& builder, Layer const& layer, Value const& x);
Value add_conv3d_transpose(Builder& builder, Layer const& layer, Value const& x);
Value add_pooling1d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode);
Value add_pooling_of(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode);  // images or volumes
Value add_global_pooling(Builder& builder, Layer const& layer, Value const& x, ReduceOperation operation);
Value add_recurrent(Builder& builder, Layer const& layer, Value const& x);  // an LSTM, a GRU or a SimpleRNN
Value add_bidirectional(Builder& builder, Layer const& layer, Value const& x);
Value add_dense(Builder& builder, Layer const& layer, Value const& x);
Value add_batch_normalization(Builder& builder, Layer const& layer, Value const& x);
Value add_fixed_normalization(Builder& builder, Layer const& layer, Value const& x);  // Normalization
Value add_layer_normalization(Builder& builder, Layer const& layer, Value const& x);
Value add_group_normalization(Builder& builder, Layer const& layer, Value const& x);
Value add_embedding(Builder& builder, Layer const& layer, Value const& x);
Value add_prelu(Builder& builder, Layer const& layer, Value const& x);
Value add_relu(Builder& builder, Layer const& layer, Value const& x);
Value add_flatten(Builder& builder, Layer const& layer, Value const& x);
Value add_reshape(Builder& builder, Layer const& layer, Value const& x);
Value add_permute(Builder& builder, Layer const& layer, Value const& x);
Value add_repeat_vector(Builder& builder, Layer const& layer, Value const& x);
Value add_attention(Builder& builder, Layer const& layer, std::vector<Value> const& in);
Value add_zero_padding(Builder& builder, Layer const& layer, Value const& x);
Value add_cropping(Builder& builder, Layer const& layer, Value const& x);
Value add_up_sampling(Builder& builder, Layer const& layer, Value const& x);

/// The softmax over the features or the channels, or its logarithm.
Value softmax(Builder& builder, std::string const& name, Value const& x, bool logarithm);
/// Adds the activation that has this name in Keras, with Keras' constants.
Value activate(Builder& builder, Node const& activation, std::string const& name, Value const& x);
/// Adds the activation that a layer's field "activation" names to its output.
Value activated(Builder& builder, Layer const& layer, Value const& x);

/// Refuses a field "axis" that names another axis than the last, which Keras counts with the batch.
void expect_last_axis(Node const& config, Value const& x);

}  // namespace coldpress::convert::keras
