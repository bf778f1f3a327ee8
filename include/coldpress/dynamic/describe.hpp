#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/graph/describe.hpp>

namespace coldpress::dynamic {

/// The plan of a config, as graph/describe.hpp has it for a type; as a table, and as a graph for GraphViz. `input`:
/// shape of one sample, where the config does not say it. Throw as Layer::from_config does.
Description description(LayerConfig const& config, std::optional<Shape> input = {});
std::string describe(LayerConfig const& config, std::optional<Shape> input = {});
std::string dot(LayerConfig const& config, std::optional<Shape> input = {});
/// How a GPU would go through it, in a line; none is needed.
std::string describe_on_gpu(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
