#include "graph.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coldpress::dynamic {
namespace {

bool contains(std::vector<std::string> const& names, std::string const& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr Index most_parameters = Index{1} << 40;
constexpr std::size_t most_layers = 10000;  // planning takes time quadratic in their number

/// Its number of values; throws ShapeError where it has none.
Index checked_size(Shape const& shape) {
  for (int axis = shape.rank(); axis < Shape::max_rank; ++axis)
    require(shape[axis] == 0, "shape: an extent must be at least 1");
  require(shape.rank() > 0, "shape: there is no extent");
  return shape.size();
}

void check_filler(Filler const& filler) {
  using Kind = Filler::Kind;
  bool const known = filler.kind >= Kind::constant && filler.kind <= Kind::juice_bias;
  if (known && std::isfinite(filler.a) && std::isfinite(filler.b) && (filler.kind != Kind::gaussian || filler.b >= 0))
    return;
  ConfigError error{"a filler's numbers must be finite, and a deviation at least 0"};
  error.in_field("filler");
  throw error;
}

/// Collects the layers of a config in order and checks how they are wired: each reads what the one before makes.
class Flattener {
 public:
  explicit Flattener(Graph& graph) : graph_(graph) {}

  void add(LayerConfig const& config, int depth = 0) {
    if (depth > 32) throw ConfigError{"containers are nested more than 32 deep"};
    coldpress::with_context([&] { add_checked(config, depth); }, [&](Error& e) { e.in_layer(config.name); });
  }

 private:
  void add_checked(LayerConfig const& config, int depth) {
    if (config.inputs.size() > 1) throw UnsupportedError{"takes one input, not several"};
    if (config.outputs.size() > 1) throw UnsupportedError{"has one output, not several"};
    if (!config.propagate_down.empty() &&
        config.propagate_down.size() != std::max<std::size_t>(1, config.inputs.size())) {
      throw ConfigError{"propagate_down must be empty or have one entry for each input"};
    }
    for (bool const down : config.propagate_down) {
      if (!down) throw UnsupportedError{"propagate_down cannot be switched off"};
    }
    if (depth == 0) last_ = config.inputs;
    check_inputs(config);
    if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
      add_children(config, *container, depth);
      return;
    }
    if (config.name.empty()) throw ConfigError{"a layer must have a name"};
    if (contains(graph_.names, config.name)) throw ConfigError{"two layers have this name"};
    for (WeightConfig const& weight : config.params) {
      if (weight.name.empty()) continue;
      if (contains(weight_names_, weight.name))
        throw UnsupportedError{"weight '" + weight.name + "' is named by two layers: sharing cannot run"};
      weight_names_.push_back(weight.name);
    }
    if (graph_.layers.size() > most_layers)
      throw UnsupportedError{"a network has at most " + std::to_string(most_layers) + " layers"};
    last_.clear();
    add_outputs(config);
    graph_.layers.push_back(config.layer_type);
    graph_.names.push_back(config.name);
    graph_.params.push_back(config.params);
  }
  /// A container is a scope of its own; what its last layer makes goes by that name or the container's.
  void add_children(LayerConfig const& config, SequentialConfig const& container, int depth) {
    if (container.inputs.size() > 1) throw UnsupportedError{"a network has one input; this container has several"};
    if (container.layers.empty()) throw ConfigError{"a sequential container has at least one layer"};
    if (!config.params.empty())
      throw ConfigError{"params are for layers with weights; a container has none of its own"};
    auto outer_values = std::exchange(values_, {}), outer_outputs = std::exchange(all_outputs_, {});
    for (ShapedInput const& input : container.inputs) {
      values_.push_back(input.name), last_.push_back(input.name);
      if (depth > 0) inner_inputs_.emplace_back(graph_.layers.size(), input.shape);
    }
    for (LayerConfig const& child : container.layers) {
      all_outputs_.insert(all_outputs_.end(), child.outputs.begin(), child.outputs.end());
    }
    for (LayerConfig const& child : container.layers) add(child, depth + 1);
    values_ = std::move(outer_values), all_outputs_ = std::move(outer_outputs);
    add_outputs(config);
  }
  void check_inputs(LayerConfig const& config) {
    for (std::string const& input : config.inputs) {
      bool const made = contains(values_, input), here = contains(last_, input);
      bool const nameless =
          last_.empty() && graph_.layers.size() == 1;  // the network's input, which nothing has named yet
      if (!made && !here && contains(all_outputs_, input)) {
        throw ConfigError{"input '" + input + "' is made by this or a later layer: a cycle"};
      }
      if (!made && !here && !nameless) throw ConfigError{"input '" + input + "' is made by no layer"};
      if (!here && !nameless)
        throw UnsupportedError{"input '" + input + "' is not what the layer before makes: branches cannot run"};
    }
  }
  void add_outputs(LayerConfig const& config) {
    for (std::string const& output : config.outputs) {
      bool const in_place = contains(config.inputs, output);
      if (contains(values_, output) && !in_place) throw ConfigError{"output '" + output + "' is made twice"};
      values_.push_back(output), last_.push_back(output);
    }
  }

 public:
  std::vector<std::pair<std::size_t, Shape>> inner_inputs_;

 private:
  Graph& graph_;
  std::vector<std::string> values_;       // of this container, made so far
  std::vector<std::string> last_;         // names of what the layer before makes
  std::vector<std::string> all_outputs_;  // of this container
  std::vector<std::string> weight_names_;
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
  coldpress::with_context(
      [&] {
        auto const declared = declared_input(config);
        if (!declared && !input)
          throw ConfigError{"the config does not say the shape of its input, and nothing else does"};
        Shape const shape = declared ? *declared : *input;
        if (checked_size(shape) != checked_size(input.value_or(shape))) {
          throw ShapeError{"the network takes samples of shape " + to_string(shape) + ", not " + to_string(*input)};
        }
        nodes.push_back(Node{.shape = shape});
      },
      [&](Error& e) { e.in_layer(config.name); });
  Index parameter_count = 0;
  first_parameter = {0, 0};
  for (std::size_t i = 1; i < layers.size(); ++i) {
    Shape const in = nodes[i - 1].shape;
    coldpress::with_context(
        [&] {
          for (auto const& [node, shape] : flattener.inner_inputs_) {
            if (node == i && checked_size(shape) != in.size()) {
              throw ShapeError{"its container takes samples of shape " + to_string(shape) + ", but gets " +
                               to_string(in)};
            }
          }
          std::visit(
              [&](auto const& layer) {
                using L = std::remove_cvref_t<decltype(layer)>;
                if constexpr (std::is_same_v<L, Custom>) {
                  throw UnsupportedError{"this program knows no layer '" + layer.type +
                                         "': the file can be inspected, not run"};
                } else if constexpr (Loss<L>) {
                  throw ConfigError{"a loss is the objective of a solver, not a layer of a network"};
                } else if constexpr (Layer<L>) {
                  nodes.push_back(node_of(layer, static_cast<int>(i) - 1, in));
                  checked_size(nodes.back().shape);
                  auto const& options = params[i];
                  std::size_t k = 0;
                  for (Parameter parameter : parameters_of(layer, in)) {
                    if (k < options.size() && options[k].filler) parameter.filler = *options[k].filler;
                    check_filler(parameter.filler);
                    parameter_count += checked_size(parameter.shape);  // each at most 2^40
                    require(parameter_count <= most_parameters, "the network would have more than 2^40 parameters");
                    parameters.push_back(parameter);
                    ++k;
                  }
                  if (options.size() > k)
                    throw ConfigError{"params has more entries than the layer has weights (" + std::to_string(k) + ")"};
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
      all.push_back({names[node] + suffix, p.shape,
                     given.empty() ? "" : given + suffix.substr(std::min<std::size_t>(2, suffix.size()))});
    }
  }
  return all;
}

}  // namespace coldpress::dynamic
