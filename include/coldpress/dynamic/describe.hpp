// Describes the plan of a config as data, as a table, as a GraphViz graph, and in words.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/typed/describe.hpp>

namespace coldpress::dynamic {

/// The plan of a config, like that of a network type in typed/describe.hpp: as data, as a table, and as a graph for
/// GraphViz. `input` is the shape of one sample, if the config does not give it. They throw what Layer::from_config
/// throws.
[[nodiscard]] Description description(LayerConfig const& config, std::optional<Shape> input = {});
std::string describe(LayerConfig const& config, std::optional<Shape> input = {});
[[nodiscard]] std::string dot(LayerConfig const& config, std::optional<Shape> input = {});
/// Describes in one line how a GPU would compute it. No GPU is needed.
[[nodiscard]] std::string describe_on_gpu(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
