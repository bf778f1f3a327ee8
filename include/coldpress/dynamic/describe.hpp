#pragma once

#include <coldpress/dynamic/layer_config.hpp>

namespace coldpress::dynamic {

/// The plan of a config as a table, as graph/describe.hpp prints it for a type. `input`: shape of one sample, where the
/// config does not say it. Throws as Layer::from_config does.
std::string describe(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
