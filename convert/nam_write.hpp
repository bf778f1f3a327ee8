// Converts the plain data of an architecture to the JSON of a .nam file.
#pragma once

#include "json_node.hpp"
#include "nam_network.hpp"

namespace coldpress::convert::nam {

using json::Json, json::Node, json::described, json::grouped, json::parse_json;

/// What a file has besides its network.
struct Beside {
  std::optional<double> sample_rate = {};
  std::optional<Json> metadata = {};
};

/// The text of a whole file. The weights must be those of the network.
std::string text_of(Network const& network, Weights const& weights, Beside const& more, std::string const& prefix = "");

}  // namespace coldpress::convert::nam
