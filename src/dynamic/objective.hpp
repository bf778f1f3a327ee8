// Reads the config of an objective, which is a loss or a container that ends in one.
#pragma once

#include <coldpress/dynamic/executable.hpp>

namespace coldpress::dynamic {

/// Whether the config is a loss, or a container whose last layer is a loss.
bool is_objective(LayerConfig const& config);
/// The layers and the loss of an objective. A container's inputs are the network's output and the targets, in this
/// order. Throws ConfigError with the layer's name if there is no loss at the end, if a layer other than the loss reads
/// the targets, or if a layer has weights.
Objective objective_of(LayerConfig const& config);

}  // namespace coldpress::dynamic
