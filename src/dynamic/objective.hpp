// What a config of an objective says: a loss, or a container that ends in one.
#pragma once

#include <coldpress/dynamic/executable.hpp>

namespace coldpress::dynamic {

/// Whether the config is a loss, or a container whose last layer is.
bool is_objective(LayerConfig const& config);
/// Its layers and its loss. A container's inputs are the network's output and the targets, in this order. Throws
/// ConfigError, with the layer's name, where there is no loss at the end, or something else than the loss reads the
/// targets, or a layer has weights.
Objective objective_of(LayerConfig const& config);

}  // namespace coldpress::dynamic
