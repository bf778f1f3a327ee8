// How the data of a command are told apart for a network that takes several arrays of each sample.
#pragma once

#include <coldpress/data/source.hpp>
#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/train/input_arrays.hpp>

#include <optional>
#include <string>

namespace coldpress::command {

/// The data that a user names for a network: of npz:FILE the arrays that are called as the network's inputs, if it
/// takes several of a sample and the user names no others. Throws what network_inputs throws, as an error in `file`,
/// where the network is, and ConfigError for what is no data.
std::string data_for(std::string const& spec, dynamic::LayerConfig const& network, train::InputsFor purpose,
                     std::string const& file);

/// The shape of a sample, for a network that does not state it, or that takes other numbers of steps. A network that
/// takes several arrays of a sample takes those that it states. Throws what network_inputs throws.
std::optional<Shape> input_for(dynamic::LayerConfig const& network, data::Source const& source,
                               train::InputsFor purpose);

/// The arrays of a sample with their shapes, or the shape of the only one.
std::string shape_text(data::Source const& source);

}  // namespace coldpress::command
