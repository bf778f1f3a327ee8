// Folds batch normalisations into the layers before them. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>
#include <vector>

namespace coldpress::convert {

/// What fold_batch_normalization has done with the normalisations of a network.
struct FoldedNormalizations {
  struct Kept {
    std::string name;
    std::string reason;  // a clause: "something else reads what 'conv' makes"
    bool operator==(Kept const&) const = default;
  };
  std::vector<std::string> folded;  // the layers that are gone
  std::vector<Kept> kept;
};

/// Computes each BatchNormalization in the Convolution, ConvolutionTranspose or Linear before it, as far as that gives
/// the same network in inference: W' = s W and b' = s (b - mean) + bias, with s = weight / sqrt(variance + epsilon) of
/// each output, computed in double and rounded once. The outputs differ in their last bits, and if the network is
/// trained again, it is without these normalisations.
///
/// A Reshape or Flatten may stand between, if the axis is still that of the outputs. A normalisation stays, and the
/// result says why, where its axis is another one, where it comes after another layer, where anything else reads what
/// comes before it, and where weights are shared.
FoldedNormalizations fold_batch_normalization(persist::Model& model);

}  // namespace coldpress::convert
