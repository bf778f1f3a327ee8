// Gives a network the weights of another one, from which it learns on.
#pragma once

#include <coldpress/dynamic/layer.hpp>

#include <string>
#include <vector>

namespace coldpress::dynamic {

/// The names of the weights that copy_weights copied, of those that the other network does not have, and of those that
/// only the other network has.
struct CopiedWeights {
  std::vector<std::string> copied = {}, missing = {}, unused = {};
};

/// Copies the weights that another network has under the same names, statistics included. The others keep their values:
/// those of a new last layer, for example. Throws MismatchError, and changes nothing, if a weight has another shape
/// there, or if no name is the same.
CopiedWeights copy_weights(Layer const& from, Layer& to);

}  // namespace coldpress::dynamic
