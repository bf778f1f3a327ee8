#include <coldpress/dynamic/to_config.hpp>

#include "graph.hpp"

namespace coldpress::dynamic {
bool declares_input(LayerConfig const& config) { return declared_input(config).has_value(); }

void declare_input(LayerConfig& config, Shape shape) {
  auto* container = std::get_if<SequentialConfig>(&config.layer_type);
  if (container && !declares_input(config)) container->add_input("data", shape);
}

std::vector<std::pair<std::string, Shape>> output_shapes(LayerConfig const& config, std::optional<Shape> input) {
  Graph const graph{config, input};
  std::vector<std::pair<std::string, Shape>> shapes;
  for (std::size_t i = 1; i < graph.names.size(); ++i) shapes.emplace_back(graph.names[i], graph.nodes[i].shape);
  return shapes;
}

std::vector<Executable::Weight> weights_of(LayerConfig const& config, std::optional<Shape> input) {
  return Graph{config, input}.weights();
}

}  // namespace coldpress::dynamic
