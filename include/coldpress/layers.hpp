// THE LIST of built-in layers and losses: the table of contents of the library. Configs, files, docs and tests fold
// over it.
#pragma once

#include <coldpress/core/type_list.hpp>
#include <coldpress/layers/batch_normalization.hpp>
#include <coldpress/layers/convolution.hpp>
#include <coldpress/layers/dropout.hpp>
#include <coldpress/layers/flatten.hpp>
#include <coldpress/layers/linear.hpp>
#include <coldpress/layers/log_softmax.hpp>
#include <coldpress/layers/mean_squared_error.hpp>
#include <coldpress/layers/negative_log_likelihood.hpp>
#include <coldpress/layers/pooling.hpp>
#include <coldpress/layers/relu.hpp>
#include <coldpress/layers/reshape.hpp>
#include <coldpress/layers/rnn.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/softmax.hpp>
#include <coldpress/layers/tanh.hpp>

namespace coldpress {

using BuiltinLayers = TypeList<Linear, Convolution, Pooling, Rnn, ReLU, TanH, Sigmoid, Softmax, LogSoftmax, Dropout,
                               Reshape, Flatten, BatchNormalization>;
using BuiltinLosses = TypeList<NegativeLogLikelihood, MeanSquaredError>;

}  // namespace coldpress
