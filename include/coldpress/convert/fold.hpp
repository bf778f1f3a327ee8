// Folds batch normalisations into the layers before them. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>
#include <vector>

namespace coldpress::convert {

/// Computes each BatchNormalization in the Convolution, ConvolutionTranspose or Linear before it, as far as that gives
/// the same network in inference: W' = s W and b' = s (b - mean) + bias, with s = weight / sqrt(variance + epsilon) of
/// each output, computed in double and rounded once. The outputs have other last bits, and whoever trains the network
/// trains one without these normalisations. Returns the names of the layers that are gone.
///
/// A normalisation stays where its axis is not that of the outputs, where it does not come directly after such a layer,
/// where anything else reads what that layer makes, and where weights are shared.
std::vector<std::string> fold_batch_normalization(persist::Model& model);

}  // namespace coldpress::convert
