// Keras' recurrent layers.
#pragma once

#include "keras_builder.hpp"

namespace coldpress::convert::keras {

/// An LSTM, a GRU or a SimpleRNN.
Value add_recurrent(Builder& builder, Layer const& layer, Value const& x);
/// One of these in both directions.
Value add_bidirectional(Builder& builder, Layer const& layer, Value const& x);

}  // namespace coldpress::convert::keras
