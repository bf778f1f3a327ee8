// From the plain data of an architecture to the JSON of a .nam file.
#pragma once

#include "nam_network.hpp"
#include "nam_node.hpp"

namespace coldpress::convert::nam {

/// The text of a whole file. The weights must be those of the network. `more` are further members of the file.
std::string text_of(Network const& network, Weights const& weights, Json const& more, std::string const& prefix = "");

}  // namespace coldpress::convert::nam
