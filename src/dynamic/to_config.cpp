// Makes a config of the layers of a graph, naming inputs and shared weights, and lists its outputs and weights.
#include <coldpress/dynamic/to_config.hpp>

#include "graph.hpp"

namespace coldpress::dynamic {
namespace detail {

void name_layers(LayerGraph& graph) {
  std::size_t const inputs = graph.nodes.size() - graph.layers.size();
  for (std::size_t i = 0; i < inputs; ++i) {
    if (graph.names[i].empty()) graph.names[i] = i == 0 ? "data" : "data" + std::to_string(i + 1);
  }
  for (std::size_t i = inputs; i < graph.nodes.size(); ++i) {
    LayerConfig& layer = graph.layers[i - inputs];
    layer.name = graph.names[i];
    // Layers that share a weight give it the same name: that of the key, or of the first layer.
    int const first = graph.first_parameter[i], count = graph.first_parameter[i + 1] - first;
    if (count == 0) continue;
    std::string key{graph.sharing[i - inputs].key};
    int const owner = graph.owner[static_cast<std::size_t>(first)];
    if (key.empty() && owner != first) {
      auto const owning = static_cast<std::size_t>(graph.parameter_node[static_cast<std::size_t>(owner)]);
      auto& params = graph.layers[owning - inputs].params;
      if (params.empty()) params.push_back({.name = graph.names[owning] + "/shared"});
      key = params[0].name;
    }
    if (key.empty()) continue;
    layer.params.push_back({.name = key});
    for (int k = 1; graph.sharing[i - inputs].parameters > 0 && k < count; ++k)
      layer.params.push_back({.name = layer.name + "/own" + std::to_string(k)});
  }
}

LayerConfig config_of(std::string name, LayerGraph graph) {
  name_layers(graph);
  SequentialConfig config;
  std::size_t const inputs = graph.nodes.size() - graph.layers.size();
  for (std::size_t i = 0; i < inputs; ++i) config.add_input(graph.names[i], graph.nodes[i].shape);
  for (std::size_t i = inputs; i < graph.nodes.size(); ++i) {
    Node const& node = graph.nodes[i];
    LayerConfig& layer = graph.layers[i - inputs];
    for (int k = 0; k < node.input_count(); ++k)
      layer.inputs.push_back(graph.names[static_cast<std::size_t>(node.inputs[k])]);
    if (node.kind != Node::Kind::loss && node.kind != Node::Kind::statistic) layer.outputs.push_back(layer.name);
  }
  config.layers = std::move(graph.layers);
  LayerConfig network{std::move(name), std::move(config)};
  for (int const output : graph.outputs) network.outputs.push_back(graph.names[static_cast<std::size_t>(output)]);
  return network;
}

}  // namespace detail

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
