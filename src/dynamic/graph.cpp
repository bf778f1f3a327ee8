// Walks through a config and its containers, checks each layer, and adds it to the builder of graphs.
#include "graph.hpp"

#include "wiring.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace coldpress::dynamic {
namespace {

constexpr Index most_parameters = Index{1} << 40;
constexpr std::size_t most_layers = 10000;

/// The number of values of a shape; throws ShapeError if an extent is missing or not positive.
Index checked_size(Shape const& shape) {
  for (int axis = shape.rank(); axis < Shape::max_rank; ++axis)
    require(shape[axis] == 0, "shape: an extent must be at least 1");
  require(shape.rank() > 0, "shape: there is no extent");
  return shape.size();
}

void check_factor(char const* field, float value) {
  check_field(std::isfinite(value) && value >= 0, field,
              "must be a finite number of at least 0, is " + std::to_string(value));
}

/// The name of weight k in a layer's configs: its own name, or by Juice's rule NAME or NAME-bias with the first
/// weight's name; empty if it has none.
std::string weight_name(std::vector<WeightConfig> const& configs, std::size_t k, Parameter const& parameter) {
  if (k < configs.size() && !configs[k].name.empty()) return configs[k].name;
  if (configs.empty() || configs[0].name.empty()) return {};
  std::string const suffix{parameter.suffix};  // "-0", "-0-bias"; after a given name "", "-bias"
  return configs[0].name + suffix.substr(std::min<std::size_t>(2, suffix.size()));
}

/// Walks through a config and its containers and adds each layer to a graph. A layer reads the values that its inputs
/// name, or by default the output of the layer before it.
class ConfigWalk {
 public:
  explicit ConfigWalk(Graph& graph) : graph_(graph), builder_(graph) {}

  void build(LayerConfig const& config, std::optional<Shape> input) {
    auto const* container = std::get_if<SequentialConfig>(&config.layer_type);
    if (container) check_container(config, *container);
    std::vector<ShapedInput> inputs;
    if (container && !container->inputs.empty()) {
      inputs = container->inputs;
    } else {
      inputs.push_back({"", sample_shape(config, input)});
    }
    if (inputs.size() > max_network_inputs)
      throw UnsupportedError{"a network has at most " + std::to_string(max_network_inputs) + " inputs"};
    if (input && other_steps(config, inputs[0].shape, *input)) inputs[0].shape = *input;
    std::vector<Value> values;
    for (ShapedInput const& from : inputs) {
      values.push_back({builder_.add_input(from.shape)});
      keep(Flatten{}, {});
      graph_.names.back() = from.name;
      checked_size(from.shape);
    }
    if (input && checked_size(inputs[0].shape) != checked_size(*input)) {
      throw ShapeError{"the network takes samples of shape " + to_string(inputs[0].shape) + ", not " +
                       to_string(*input)};
    }
    Scope outside;
    for (std::size_t k = 0; k < std::min(config.inputs.size(), values.size()); ++k)
      outside.give(config.inputs[k], values[k], false);
    nameless_ = inputs[0].name.empty() && config.inputs.empty();
    std::vector<Value> results;
    if (container) {
      graph_.force_backward = container->force_backward;
      check_propagate_down(config, values.size());
      results = add_children(config, *container, values, 0);
    } else {
      results = {add_leaf(config, outside, values[0])};
    }
    if (results[0].node < 0) throw ConfigError{"a network must have an output besides losses and statistics"};
    for (Value const& result : results) builder_.add_output(result.node);
    builder_.finish();
  }

 private:
  /// Adds a layer in its container's scope. `before` is the output of the layer before. Returns the layer's output,
  /// which does not exist for a loss.
  Value add(LayerConfig const& config, Scope& scope, Value before, int depth) {
    if (depth > 32) throw ConfigError{"containers are nested more than 32 deep"};
    Value made;
    coldpress::with_context(
        [&] {
          auto const* container = std::get_if<SequentialConfig>(&config.layer_type);
          if (!container) {
            made = add_leaf(config, scope, before);
            return;
          }
          std::vector<Value> inputs;
          for (std::string const& name : config.inputs) inputs.push_back(resolve(name, scope));
          if (inputs.empty() && container->inputs.size() <= 1) inputs.push_back(before);
          if (inputs.empty()) {
            for (ShapedInput const& input : container->inputs) inputs.push_back(resolve(input.name, scope));
          }
          check_propagate_down(config, inputs.size());
          for (std::size_t k = 0; k < config.propagate_down.size(); ++k) inputs[k].open &= config.propagate_down[k];
          auto const results = add_children(config, *container, inputs, depth);
          Names const read{config.inputs};
          for (std::size_t k = 0; k < results.size() && k < config.outputs.size(); ++k)
            scope.give(config.outputs[k], results[k], read.contains(config.outputs[k]));
          made = results[0];
        },
        [&](Error& e) { e.in_layer(config.name); });
    return made;
  }
  /// Adds the layers of a container in a new scope. Its results are the values that its outputs name, or the
  /// output of its last layer.
  std::vector<Value> add_children(LayerConfig const& config, SequentialConfig const& container,
                                  std::vector<Value> const& inputs, int depth) {
    check_container(config, container);
    if (!container.inputs.empty() && container.inputs.size() != inputs.size()) {
      throw ConfigError{"the container takes " + counted(container.inputs.size(), "input") + ", but gets " +
                        std::to_string(inputs.size())};
    }
    Scope scope;
    Value before = inputs[0];
    std::string before_name = container.inputs.empty() ? "" : container.inputs[0].name;
    for (std::size_t k = 0; k < container.inputs.size(); ++k) {
      Value const value = depth == 0 ? inputs[k] : shaped(inputs[k], container.inputs[k], config);
      scope.give(container.inputs[k].name, value, false);
      if (k == 0) before = value;
    }
    std::vector<Value> made(container.layers.size());
    std::vector<std::string> names(container.layers.size());  // names of values without a given one, by Juice's rules
    for (std::size_t i = 0; i < names.size(); ++i) {
      LayerConfig const& child = container.layers[i];
      names[i] = generated_name(child, i, i + 1 == names.size(), before_name);
      if (!works_in_place(child.layer_type)) before_name = child.outputs.empty() ? names[i] : child.outputs[0];
    }
    check_count(container.layers.size());
    std::set<std::size_t> made_by;
    for (std::size_t const i : order_of(container.layers, scope, nameless_ && depth == 0).layers) {
      auto const after = made_by.lower_bound(i);
      if (after != made_by.begin()) before = made[*std::prev(after)];
      made[i] = add(container.layers[i], scope, before, depth + 1);
      if (made[i].node < 0) continue;
      made_by.insert(i);
      scope.give_generated(names[i], made[i]);
    }
    auto const last = std::find_if(made.rbegin(), made.rend(), [](Value const& value) { return value.node >= 0; });
    if (last == made.rend()) throw ConfigError{"a network must have an output besides losses and statistics"};
    std::vector<Value> results;
    for (std::string const& output : config.outputs) {
      Value const* const inside = scope.find(output);
      if (!inside && config.outputs.size() > 1)
        throw ConfigError{"output '" + output + "' is made by none of the container's layers"};
      results.push_back(inside ? *inside : *last);
    }
    if (results.empty()) results.push_back(*last);
    return results;
  }
  Value add_leaf(LayerConfig const& config, Scope& scope, Value before) {
    if (config.name.empty()) throw ConfigError{"a layer must have a name"};
    check_count(graph_.layers.size());
    if (!config.inputs.empty() && nameless_ && graph_.layers.size() == 1) scope.give(config.inputs[0], before, false);
    nameless_ = false;
    std::vector<Value> from;
    for (std::string const& name : config.inputs) from.push_back(resolve(name, scope));
    if (from.empty() && !is_source(config.layer_type)) from.push_back(before);
    if (from.size() > max_inputs)
      throw UnsupportedError{"a layer has at most " + std::to_string(max_inputs) +
                             " inputs; to join more, nest several"};
    check_propagate_down(config, from.size());
    for (std::size_t k = 0; k < config.propagate_down.size(); ++k) from[k].open &= config.propagate_down[k];
    Value const made = add_layer(config, from);
    if (made.node < 0) return made;
    bool const view = graph_.nodes[static_cast<std::size_t>(made.node)].kind == Node::Kind::view;
    if (config.outputs.size() > 1 && !view) throw ConfigError{"must have one output, not several"};
    Names const read{config.inputs};
    for (std::string const& output : config.outputs) scope.give(output, made, read.contains(output));
    return made;
  }
  Value add_layer(LayerConfig const& config, std::vector<Value> const& from) {
    std::vector<int> inputs;
    std::vector<Shape> in;
    for (Value const& value : from) {
      inputs.push_back(value.node);
      in.push_back(graph_.nodes[static_cast<std::size_t>(value.node)].shape);
    }
    Value made{};
    auto const add = [&](auto const& layer) {
      using L = std::remove_cvref_t<decltype(layer)>;
      check_inputs(layer, in);
      made.node = builder_.add_node(layer, inputs, in);
      builder_.name(made.node, config.name);
      keep(layer, config.params);
      Node& node = graph_.nodes.back();
      for (std::size_t k = 0; k < from.size(); ++k) node.closed |= from[k].open ? 0u : 1u << k;
      if constexpr (!coldpress::Layer<L>) {
        if (!config.params.empty()) throw ConfigError{"params are for layers with weights; it has none"};
        made.node = -1;
      } else {
        if (node.kind == Node::Kind::view) made.open = from[0].open;
        checked_size(node.shape);
        add_parameters(parameters_of(layer, Shapes{in}), config.params);
      }
    };
    auto const add_any = [&](auto const& layer) {
      using L = std::remove_cvref_t<decltype(layer)>;
      if constexpr (std::is_same_v<L, Custom>) {
        graph_.custom_layers.push_back(custom_layer_of(layer));
        add(CustomNode{graph_.custom_layers.back().get()});
      } else if constexpr (Loss<L> || Statistic<L> || coldpress::Layer<L>) {
        add(layer);
      }
    };
    try {
      std::visit(add_any, config.layer_type);
    } catch (ShapeError const& error) {
      throw_with_inputs(error, in);
    }
    return made;
  }
  /// Rethrows a layer's error with the shapes of its inputs.
  [[noreturn]] static void throw_with_inputs(ShapeError const& error, std::vector<Shape> const& in) {
    std::string shapes;
    for (Shape const& shape : in) shapes.append(shapes.empty() ? "" : " and ").append(to_string(shape));
    ShapeError more{error.sentence() + (in.empty() ? "" : "; its input has shape " + shapes)};
    more.in_field(error.field());
    throw more;
  }
  template <class L>
  static void check_inputs(L const&, std::vector<Shape> const& in) {
    if constexpr (Loss<L>) {
      if (in.size() != 2)
        throw ConfigError{
            "a loss is the objective of a solver, or reads two values of its network: what it compares, and the "
            "targets"};
    } else if constexpr (Statistic<L>) {
    } else if constexpr (Source<L>) {
      if (!in.empty()) throw ConfigError{"takes no input"};
    } else if constexpr (OneInput<L>) {
      if (in.size() > 1) throw ConfigError{"takes one input, not several"};
    }
  }
  /// Stores what the graph has of the last node besides the node itself.
  void keep(GraphLayer const& layer, std::vector<WeightConfig> weights) {
    graph_.layers.push_back(layer);
    graph_.params.push_back(std::move(weights));
  }
  void add_parameters(auto const& parameters, std::vector<WeightConfig> const& options) {
    std::size_t k = 0;
    for (Parameter parameter : parameters) {
      if (k < options.size()) {
        parameter = parameter.with(
            {.filler = options[k].filler.value_or(Filler{}),
             .lr_mult = options[k].lr_mult.value_or(parameter.lr_mult),
             .decay_mult = options[k].decay_mult.value_or(parameter.decay_mult),
             .regularizer = options[k].regularizer == Regularizer::own ? parameter.regularizer : options[k].regularizer,
             .max_norm = options[k].max_norm.value_or(parameter.max_norm)});
      }
      with_context([&] { check_filler(parameter.filler); }, [](Error& error) { error.in_field("filler"); });
      check_factor("lr_mult", parameter.lr_mult);
      check_factor("decay_mult", parameter.decay_mult);
      check_factor("max_norm", parameter.max_norm.norm);
      check_field(parameter.max_norm.every > 0, "max_norm", "must have an `every` of at least 1");
      parameter_count_ += checked_size(parameter.shape);  // each size is at most 2^40, so this cannot overflow
      require(parameter_count_ <= most_parameters, "the network would have more than 2^40 parameters");
      builder_.add_parameter(parameter, owner_of(parameter, options, k));
      ++k;
    }
    if (options.size() > k)
      throw ConfigError{"params has more entries than the layer has weights (" + std::to_string(k) + ")"};
  }
  /// The first parameter with the same name, or this one if there is none. Checks that the two can be shared.
  int owner_of(Parameter const& parameter, std::vector<WeightConfig> const& options, std::size_t k) {
    int const self = static_cast<int>(graph_.parameters.size());
    std::string const name = weight_name(options, k, parameter);
    if (name.empty()) return self;
    int const first = builder_.first_under(name, self);
    if (first == self) return self;
    Parameter const& own = graph_.parameters[static_cast<std::size_t>(first)];
    WeightConfig const wish = k < options.size() ? options[k] : WeightConfig{};
    bool const permissive = wish.share_mode == DimCheckMode::permissive;
    if (permissive ? own.shape.size() != parameter.shape.size() : own.shape != parameter.shape) {
      throw ShapeError{"weight '" + name + "' is shared with one of shape " + to_string(own.shape) + ", but has " +
                       to_string(parameter.shape)};
    }
    if (!permissive && !same_order(own, parameter))
      throw ShapeError{"weight '" + name +
                       "' is shared by layers that keep it in different orders: by recurrent layers of "
                       "different kinds, or by a Linear along the last axis and another layer"};
    bool const other = (wish.filler && *wish.filler != own.filler) ||
                       wish.lr_mult.value_or(own.lr_mult) != own.lr_mult ||
                       wish.decay_mult.value_or(own.decay_mult) != own.decay_mult ||
                       (wish.regularizer != Regularizer::own && wish.regularizer != own.regularizer) ||
                       wish.max_norm.value_or(own.max_norm) != own.max_norm;
    if (other) throw ConfigError{"weight '" + name + "' is shared: only the first layer may set more than its name"};
    return first;
  }
  /// The value in the shape that the container declares for it.
  Value shaped(Value value, ShapedInput const& declared, LayerConfig const& config) {
    Shape const shape = graph_.nodes[static_cast<std::size_t>(value.node)].shape;
    if (checked_size(declared.shape) != shape.size()) {
      throw ShapeError{"the container takes samples of shape " + to_string(declared.shape) + ", but gets " +
                       to_string(shape)};
    }
    if (declared.shape == shape) return value;
    Reshape const reshape{declared.shape};
    int const node = builder_.add_node(reshape, {&value.node, 1}, {&shape, 1});
    keep(reshape, {});
    graph_.names.back() = config.name + "/" + declared.name;
    return {node, value.open};
  }
  static Value resolve(std::string const& name, Scope const& scope) {
    if (Value const* const value = scope.find(name)) return *value;
    throw ConfigError{"input '" + name + "' is made by no layer"};
  }
  static void check_count(std::size_t layers) {
    if (layers > most_layers)
      throw UnsupportedError{"a network has at most " + std::to_string(most_layers) + " layers"};
  }
  static void check_container(LayerConfig const& config, SequentialConfig const& container) {
    if (container.layers.empty()) throw ConfigError{"a sequential container has at least one layer"};
    if (!config.params.empty())
      throw ConfigError{"params are for layers with weights; a container has none of its own"};
  }
  static void check_propagate_down(LayerConfig const& config, std::size_t inputs) {
    if (!config.propagate_down.empty() && config.propagate_down.size() != inputs)
      throw ConfigError{"propagate_down must be empty or have one entry for each input"};
  }
  static Shape sample_shape(LayerConfig const& config, std::optional<Shape> input) {
    auto const declared = declared_input(config);
    if (!declared && !input) throw ConfigError{"the config does not say the shape of its input, and nothing else does"};
    return declared ? *declared : *input;
  }

  Graph& graph_;
  coldpress::detail::GraphBuilder<Graph> builder_;
  Index parameter_count_ = 0;
  bool nameless_ = false;  // whether the network's input has no name yet, so that its first reader may give it one
};

}  // namespace

void GraphParts::refuse(char const* sentence, int node) const {
  ConfigError error{sentence};
  if (node >= 0) error.in_layer(names[static_cast<std::size_t>(node)]);
  throw error;
}
void GraphParts::refuse_join(int first, int second) const {
  auto const text = [&](int node) { return to_string(nodes[static_cast<std::size_t>(node)].shape); };
  throw ShapeError{"joins values of shapes " + text(first) + " and " + text(second)};
}

bool other_steps(LayerConfig const& config, Shape const& a, Shape const& b) {
  if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
    return std::any_of(container->layers.begin(), container->layers.end(),
                       [&](LayerConfig const& layer) { return other_steps(layer, a, b); });
  }
  auto const are_steps = [&](Shape const& one, Shape const& other) {
    return one.rank() >= 1 && one.rank() <= 2 && other.rank() >= 1 && other.rank() <= 2 && one.last() == other.last();
  };
  if (auto const* custom = std::get_if<Custom>(&config.layer_type)) {
    Registration const* const known = find_type(custom->type);
    return known && known->any_steps && are_steps(a, b);
  }
  return std::visit(
      [&](auto const& layer) {
        using L = std::remove_cvref_t<decltype(layer)>;
        if constexpr (std::is_same_v<L, Linear>) {
          return layer.last_axis && are_steps(a, b);
        } else if constexpr (std::is_same_v<L, Embedding>) {  // steps are single numbers
          return are_steps(a, b) || (a.rank() == 1 && b.rank() == 1);
        } else {
          return LayerTraits<L>::any_steps && are_steps(a, b);
        }
      },
      config.layer_type);
}

std::optional<Shape> declared_input(LayerConfig const& config) {
  auto const* container = std::get_if<SequentialConfig>(&config.layer_type);
  if (!container || container->layers.empty()) return {};
  if (!container->inputs.empty()) return container->inputs[0].shape;
  return declared_input(container->layers[0]);
}

Graph::Graph(LayerConfig const& config, std::optional<Shape> input) {
  coldpress::with_context([&] { ConfigWalk{*this}.build(config, input); }, [&](Error& e) { e.in_layer(config.name); });
  layers.shrink_to_fit(), names.shrink_to_fit(), nodes.shrink_to_fit(), params.shrink_to_fit();
  parameters.shrink_to_fit();
}

int Graph::inputs() const {
  int count = 0;
  while (count < static_cast<int>(nodes.size()) && nodes[static_cast<std::size_t>(count)].kind == Node::Kind::input)
    ++count;
  return count;
}

bool Graph::has_losses() const {
  return std::any_of(nodes.begin(), nodes.end(), [](Node const& node) { return node.kind == Node::Kind::loss; });
}

bool Graph::has_custom_parameters() const {
  return std::any_of(parameter_node.begin(), parameter_node.end(), [&](int node) {
    return std::holds_alternative<CustomNode>(layers[static_cast<std::size_t>(node)]);
  });
}

bool Graph::has_custom_layers() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](GraphLayer const& layer) { return std::holds_alternative<CustomNode>(layer); });
}

std::vector<int> Graph::owners() const {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(owner.size()); ++i) {
    if (owner[static_cast<std::size_t>(i)] == i) all.push_back(i);
  }
  return all;
}

std::vector<Executable::Weight> Graph::weights() const {
  std::vector<Executable::Weight> all;
  all.reserve(parameters.size());
  std::vector<std::size_t> weight_of(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto const node = static_cast<std::size_t>(parameter_node[i]), own = static_cast<std::size_t>(owner[i]);
    std::string const name = names[node] + std::string{parameters[i].suffix};
    if (own != i) {
      all[weight_of[own]].aliases.push_back(name);
      all[weight_of[own]].layers.push_back(names[node]);
      continue;
    }
    weight_of[i] = all.size();
    auto const k = i - static_cast<std::size_t>(first_parameter[node]);
    all.push_back({.name = name,
                   .shape = parameters[i].shape,
                   .other_name = weight_name(params[node], k, parameters[i]),
                   .layers = {names[node]},
                   .lr_mult = parameters[i].lr_mult,
                   .is_statistic = parameters[i].is_statistic()});
  }
  return all;
}

void Graph::check_sharing(std::function<bool(Parameter const&, Parameter const&)> const& has_one_order) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto const own = static_cast<std::size_t>(owner[i]), node = static_cast<std::size_t>(parameter_node[i]);
    if (own == i || has_one_order(parameters[own], parameters[i])) continue;
    std::string const name =
        weight_name(params[node], i - static_cast<std::size_t>(first_parameter[node]), parameters[i]);
    ShapeError error{"weight '" + name + "' " + to_string(parameters[i].shape) + " is shared with that of layer '" +
                     names[static_cast<std::size_t>(parameter_node[own])] + "' " + to_string(parameters[own].shape) +
                     ", but this backend keeps the values of the two in different orders; cpu:reference keeps them in "
                     "one"};
    error.in_layer(names[node]);
    throw error;
  }
}

}  // namespace coldpress::dynamic
