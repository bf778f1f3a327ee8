#include "graph.hpp"

#include <algorithm>

namespace coldpress::dynamic {
namespace {

bool contains(std::vector<std::string> const& names, std::string const& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Collects the layers of a config in order and checks how they are wired: each reads what the one before makes.
class Flattener {
 public:
  explicit Flattener(Graph& graph) : graph_(graph) {}

  void add(LayerConfig const& config, int depth = 0) {
    if (depth > 32) throw ConfigError{"containers are nested more than 32 deep"};
    coldpress::with_context([&] { add_checked(config, depth); }, [&](Error& e) { e.in_layer(config.name); });
  }
  /// Names of values a layer may read now.
  void declare_input(std::string const& name) { last_ = {name}, values_.push_back(name); }

 private:
  void add_checked(LayerConfig const& config, int depth) {
    if (!config.propagate_down.empty() && config.propagate_down.size() != std::max<std::size_t>(1, config.inputs.size())) {
      throw ConfigError{"propagate_down must be empty or have one entry for each input"};
    }
    if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
      if (container->inputs.size() > 1) throw UnsupportedError{"a network has one input; this container has several"};
      if (container->layers.empty()) throw ConfigError{"a sequential container has at least one layer"};
      if (!container->inputs.empty() && depth == 0) declare_input(container->inputs[0].name);
      if (!container->inputs.empty() && depth > 0) inner_inputs_.emplace_back(graph_.layers.size(), container->inputs[0].shape);
      auto const outer = all_outputs_;
      for (LayerConfig const& child : container->layers) all_outputs_.insert(all_outputs_.end(), child.outputs.begin(), child.outputs.end());
      if (!container->inputs.empty()) last_.push_back(container->inputs[0].name);
      for (LayerConfig const& child : container->layers) add(child, depth + 1);
      all_outputs_ = outer;
      return;
    }
    check_wiring(config);
    if (contains(graph_.names, config.name)) throw ConfigError{"two layers have this name"};
    graph_.layers.push_back(config.layer_type);
    graph_.names.push_back(config.name);
    graph_.params.push_back(config.params);
  }
  void check_wiring(LayerConfig const& config) {
    if (config.inputs.size() > 1) throw UnsupportedError{"takes one input, not several"};
    if (config.outputs.size() > 1) throw UnsupportedError{"has one output, not several"};
    for (std::string const& input : config.inputs) {
      bool const later = !contains(values_, input) && contains(all_outputs_, input);
      if (later) throw ConfigError{"input '" + input + "' is made by this or a later layer: a cycle"};
      if (!contains(values_, input) && !contains(last_, input)) throw ConfigError{"input '" + input + "' is made by no layer"};
      if (!contains(last_, input)) throw UnsupportedError{"input '" + input + "' is not what the layer before makes: branches cannot run"};
    }
    for (std::string const& output : config.outputs) {
      bool const in_place = contains(config.inputs, output);
      if (contains(values_, output) && !in_place) throw ConfigError{"output '" + output + "' is made twice"};
      values_.push_back(output);
    }
    last_ = config.outputs;
  }

 public:
  std::vector<std::pair<std::size_t, Shape>> inner_inputs_;

 private:
  Graph& graph_;
  std::vector<std::string> values_, last_, all_outputs_;
};

}  // namespace

std::optional<Shape> declared_input(LayerConfig const& config) {
  auto const* container = std::get_if<SequentialConfig>(&config.layer_type);
  if (!container || container->layers.empty()) return {};
  if (!container->inputs.empty()) return container->inputs[0].shape;
  return declared_input(container->layers[0]);
}

Graph::Graph(LayerConfig const& config, std::optional<Shape> input) {
  layers.emplace_back(Flatten{});
  names.emplace_back();
  params.emplace_back();
  Flattener flattener{*this};
  flattener.add(config);
  auto const declared = declared_input(config);
  if (declared && input && declared->size() != input->size()) {
    throw ShapeError{"the network takes samples of shape " + to_string(*declared) + ", not " + to_string(*input)};
  }
  if (!declared && !input) throw ConfigError{"the config does not say the shape of its input, and nothing else does"};
  nodes.push_back(Node{.shape = declared ? *declared : *input});
  if (nodes[0].shape.size() < 1) throw ShapeError{"the input has no values"};
  first_parameter = {0, 0};
  for (std::size_t i = 1; i < layers.size(); ++i) {
    Shape const in = nodes[i - 1].shape;
    coldpress::with_context(
        [&] {
          for (auto const& [node, shape] : flattener.inner_inputs_) {
            if (node == i && shape.size() != in.size()) {
              throw ShapeError{"its container takes samples of shape " + to_string(shape) + ", but gets " + to_string(in)};
            }
          }
          std::visit(
              [&](auto const& layer) {
                using L = std::remove_cvref_t<decltype(layer)>;
                if constexpr (std::is_same_v<L, Custom>) {
                  throw UnsupportedError{"this program knows no layer '" + layer.type + "': the file can be inspected, not run"};
                } else if constexpr (Loss<L>) {
                  throw ConfigError{"a loss is the objective of a solver, not a layer of a network"};
                } else if constexpr (Layer<L>) {
                  nodes.push_back(node_of(layer, static_cast<int>(i) - 1, in));
                  auto const& options = params[i];
                  std::size_t k = 0;
                  for (Parameter parameter : parameters_of(layer, in)) {
                    if (k < options.size() && options[k].filler) parameter.filler = *options[k].filler;
                    parameters.push_back(parameter);
                    ++k;
                  }
                  if (options.size() > k) throw ConfigError{"params has more entries than the layer has weights (" + std::to_string(k) + ")"};
                }
              },
              layers[i]);
        },
        [&](Error& e) { e.in_layer(names[i]); });
    first_parameter.push_back(static_cast<int>(parameters.size()));
  }
}

std::vector<Executable::Weight> Graph::weights() const {
  std::vector<Executable::Weight> all;
  for (std::size_t node = 1; node < layers.size(); ++node) {
    std::string const given = params[node].empty() ? "" : params[node][0].name;
    for (int k = first_parameter[node]; k < first_parameter[node + 1]; ++k) {
      Parameter const& p = parameters[static_cast<std::size_t>(k)];
      std::string const suffix{p.suffix};  // "-0", "-0-bias"; after a given name "", "-bias"
      all.push_back({names[node] + suffix, p.shape, given.empty() ? "" : given + suffix.substr(std::min<std::size_t>(2, suffix.size()))});
    }
  }
  return all;
}

}  // namespace coldpress::dynamic
