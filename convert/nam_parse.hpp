// Converts the JSON of a .nam file to the plain data of an architecture, with its weights.
#pragma once

#include "json_node.hpp"
#include "nam_network.hpp"

namespace coldpress::convert::nam {

using json::Json, json::Node, json::described, json::grouped, json::parse_json;

/// One model of a file: a file itself, an entry of a container, or a network that makes a condition.
struct Parsed {
  Network network;
  Json metadata;  // of the model that was chosen, completed by those of the container
  std::optional<double> sample_rate = {};
  std::string version;
  std::vector<double> sizes = {0};
};

/// The model of that size, from 0 to 1. `prefix` is that of the names of its layers; `depth` counts networks inside one
/// another. Throws FormatError and UnsupportedError with the path of what is wrong.
Parsed parse_model(Node const& model, double size, std::string const& prefix = "", int depth = 0);

/// The architecture that "config" describes, slimmed to that size.
WaveNet parse_wavenet(Node const& config, double size, std::vector<double>& sizes,
                      std::function<Network(Node const&)> const& parse_condition);
Lstm parse_lstm(Node const& config);
ConvNet parse_convnet(Node const& config);
Fir parse_linear(Node const& config);

/// The channel counts to which an array can be slimmed, ascending; none if it cannot.
std::vector<Index> parse_allowed(Node const& array, Index channels);
/// Slims a network to the size, and adds the sizes from which on it has other channels. `allowed` is that of each
/// array.
void slim(WaveNet& network, Node const& arrays, std::vector<std::vector<Index>> const& allowed, double size,
          std::vector<double>& sizes);

/// An activation of that many channels.
Activation parse_activation(Node const& activation, Index channels);

}  // namespace coldpress::convert::nam
