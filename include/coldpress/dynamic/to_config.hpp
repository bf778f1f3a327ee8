// A network type as a config: the same layers, names as graph/static_graph.hpp makes them.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/graph/static_graph.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace coldpress::dynamic {
namespace detail {

/// A network's function run at run time: takes down a config.
template <class List>
class ConfigRecorder {
 public:
  using Types = List;
  explicit ConfigRecorder(SequentialConfig& config) : config_(config) {}

  Shape const& shape(int node) const { return nodes_[static_cast<std::size_t>(node)].shape; }
  Index input_size(int node) const {
    auto const& inputs = nodes_[static_cast<std::size_t>(node)].inputs;
    return inputs.empty() ? 0 : shape(inputs[0]).size();
  }
  int add_input(Shape in) {
    nodes_.push_back({.shape = in, .input = static_cast<int>(config_.inputs.size())});
    config_.add_input("", in);
    return last();
  }
  template <class L>
  int add(L const& layer, View<int const> inputs, coldpress::detail::Sharing sharing = {}) {
    std::vector<Shape> in;
    for (int node : inputs) in.push_back(shape(node));
    Recorded made{.inputs = {inputs.begin(), inputs.end()},
                  .layer = static_cast<int>(config_.layers.size()),
                  .sharing = sharing,
                  .type = L::name};
    if constexpr (!coldpress::Layer<L>) {
      made.shape = {1};
    } else {
      made.shape = output_shape_of(layer, in);
      made.weights = static_cast<int>(parameters_of(layer, Shapes{in}).size());
    }
    nodes_.push_back(std::move(made));
    config_.add_layer({"", layer});
    return last();
  }
  void add_output(int node) { outputs_.push_back(node); }
  void name(int node, std::string_view text) { nodes_[static_cast<std::size_t>(node)].name = text; }

  /// Names, wiring and shared weights; returns the names of the outputs.
  std::vector<std::string> finish();

 private:
  struct Recorded {
    Shape shape = {};
    std::vector<int> inputs = {};
    int input = -1, layer = -1, weights = 0;
    coldpress::detail::Sharing sharing = {};
    std::string_view type = {};
    std::string name = {};
  };
  int last() const { return static_cast<int>(nodes_.size()) - 1; }
  SequentialConfig& config_;
  std::vector<Recorded> nodes_;
  std::vector<int> outputs_;
};

template <class List>
std::vector<std::string> ConfigRecorder<List>::finish() {
  std::vector<std::pair<std::string_view, int>> numbers;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Recorded& node = nodes_[i];
    if (node.name.empty() && node.layer >= 0) {
      auto at = std::find_if(numbers.begin(), numbers.end(), [&](auto const& n) { return n.first == node.type; });
      if (at == numbers.end()) at = numbers.insert(at, {node.type, 0});
      node.name = std::string{node.type} + std::to_string(++at->second);
    }
    if (node.input >= 0) {
      if (node.name.empty()) node.name = node.input == 0 ? "data" : "data" + std::to_string(node.input + 1);
      config_.inputs[static_cast<std::size_t>(node.input)].name = node.name;
      continue;
    }
    LayerConfig& layer = config_.layers[static_cast<std::size_t>(node.layer)];
    layer.name = node.name;
    for (int from : node.inputs) layer.inputs.push_back(nodes_[static_cast<std::size_t>(from)].name);
    if (!std::visit(
            [](auto const& type) {
              using L = std::remove_cvref_t<decltype(type)>;
              return Loss<L> || Statistic<L>;
            },
            layer.layer_type))
      layer.outputs.push_back(node.name);
    // Who shares a weight has its name: that of the key, or of the first layer.
    std::size_t owner = i;
    if (node.sharing.node >= 0) owner = static_cast<std::size_t>(node.sharing.node);
    for (std::size_t k = 0; owner == i && !node.sharing.key.empty() && k < i; ++k) {
      if (nodes_[k].sharing.key == node.sharing.key) owner = k;
    }
    std::string key{node.sharing.key};
    if (owner != i && key.empty()) {
      LayerConfig& first = config_.layers[static_cast<std::size_t>(nodes_[owner].layer)];
      if (first.params.empty()) first.params.push_back({.name = first.name + "/shared"});
      key = first.params[0].name;
    }
    if (key.empty()) continue;
    layer.params.push_back({.name = key});
    for (int k = 1; node.sharing.parameters > 0 && k < node.weights; ++k)
      layer.params.push_back({.name = node.name + "/own" + std::to_string(k)});
  }
  std::vector<std::string> names;
  for (int node : outputs_) names.push_back(nodes_[static_cast<std::size_t>(node)].name);
  return names;
}

/// The config of a network's function that record(recorder) runs.
template <class List, class Record>
LayerConfig recorded_config(std::string name, Record record) {
  SequentialConfig config;
  ConfigRecorder<List> recorder{config};
  record(recorder);
  auto outputs = recorder.finish();
  LayerConfig network{std::move(name), std::move(config)};
  network.outputs = std::move(outputs);
  return network;
}

/// What the compiler has taken down of a network's function. To run that once more might give its layers another order:
/// which operand of a + b comes first, C++ leaves open.
template <class StaticGraph>
void replay(auto& recorder) {
  auto const add = [&](auto i) {
    auto const& node = StaticGraph::nodes[i];
    if constexpr (i < StaticGraph::inputs) {
      recorder.add_input(node.shape);
    } else {
      recorder.add(StaticGraph::template layer<i>, {node.inputs, static_cast<std::size_t>(node.input_count())},
                   StaticGraph::recorded.sharing[i]);
    }
    recorder.name(i, StaticGraph::names[i].view());
  };
  [&]<int... i>(std::integer_sequence<int, i...>) { (add(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, StaticGraph::size>{});
  for (int const output : StaticGraph::outputs) recorder.add_output(output);
}

/// Layers one after the other, in containers as they are nested.
template <class L>
constexpr bool is_chain = true;
template <auto expression>
constexpr bool is_chain<coldpress::Graph<expression>> = false;
template <auto... layers>
constexpr bool is_chain<Sequential<layers...>> = (is_chain<std::remove_cvref_t<decltype(layers)>> && ...);

template <class StaticGraph, auto... layers>
void add_layers(Sequential<layers...>, SequentialConfig& config, int& node, int& containers);

/// A layer without its Named and Shared.
template <class L>
constexpr auto bare(L const& layer) {
  if constexpr (requires { L::inner; }) {
    return bare(L::inner);
  } else {
    return layer;
  }
}

template <class StaticGraph, auto layer, class L>
void add_layer(L const&, SequentialConfig& config, int& node, int& containers) {
  if constexpr (requires { L::is_container; }) {
    SequentialConfig inner;
    std::string name = "sequential";
    name.append(std::to_string(++containers));
    add_layers<StaticGraph>(layer, inner, node, containers);
    config.add_layer({std::move(name), inner});
  } else {
    auto const i = static_cast<std::size_t>(++node);
    LayerConfig single{std::string{StaticGraph::names[i].view()}, bare(layer)};
    std::string_view const key = StaticGraph::recorded.sharing[i].key;
    if (!key.empty()) single.params.push_back({.name = std::string{key}});
    config.add_layer(std::move(single));
  }
}
template <class StaticGraph, auto... layers>
void add_layers(Sequential<layers...>, SequentialConfig& config, int& node, int& containers) {
  (add_layer<StaticGraph, layers>(layers, config, node, containers), ...);
}

}  // namespace detail

/// The config of a network type: `Net` for samples of shapes `in`.
template <class Net, Inputs in>
LayerConfig to_config(std::string name = "network") {
  if constexpr (detail::is_chain<Net>) {
    SequentialConfig config;
    config.add_input("data", in[0]);
    int node = 0, containers = 0;
    detail::add_layers<StaticGraph<Net, in>>(Net{}, config, node, containers);
    return {std::move(name), std::move(config)};
  } else {
    return detail::recorded_config<typename coldpress::detail::LayersOf<Net>::type>(
        std::move(name), [](auto& recorder) { detail::replay<StaticGraph<Net, in>>(recorder); });
  }
}
/// The config of a network's function, run now, for inputs of these shapes. Throws ShapeError where they do not fit.
template <class Function, class List, class... More>
LayerConfig to_config(Expression<Function, List> const& expression, Shape in, More const&... more) {
  return detail::recorded_config<List>("network", [&](auto& recorder) {
    auto const input = [&](Shape shape) {
      return Value<std::remove_cvref_t<decltype(recorder)>>{&recorder, recorder.add_input(shape)};
    };
    std::tuple const values{input(in), input(more)...};  // braces: from left to right
    coldpress::detail::add_outputs(std::apply([&](auto... each) { return expression(each...); }, values));
  });
}

template <class Network>
LayerConfig to_config(Network const&) {
  return to_config<typename Network::Type, Network::inputs>();
}
/// A static solver as a config: its network, objective and optimizer.
template <class Solver>
SolverConfig to_solver_config(Solver const& solver) {
  auto optimizer = solver.optimizer();
  decltype(optimizer) const own;
  SolverConfig config{.network = to_config(solver.network())};
  if constexpr (Loss<decltype(Solver::objective)>) config.objective = LayerConfig{"loss", Solver::objective};
  config.base_lr = std::exchange(optimizer.learning_rate, own.learning_rate);
  if constexpr (requires { own.momentum; }) config.momentum = std::exchange(optimizer.momentum, own.momentum);
  config.solver = optimizer;
  if (solver.minibatch_size > 0) config.minibatch_size = solver.minibatch_size;
  SolverOptions const& options = Solver::options;
  if (options.clip_gradients > 0) config.clip_gradients = options.clip_gradients;
  if (options.weight_decay > 0) config.weight_decay = options.weight_decay;
  config.regularization_method = options.regularization_method;
  config.accumulate = options.accumulate;
  config.lr_policy = options.lr_policy;
  return config;
}

/// Whether two configs describe the same function: the same layers with the same fields, each reading the same values.
/// Names, batch, wiring in place, how weights start, and the order in which a network with branches lists its layers
/// are not compared; nested containers count as their layers.
bool same_network(LayerConfig const& a, LayerConfig const& b);
/// The first difference, as a sentence; empty if there is none.
std::string difference(LayerConfig const& a, LayerConfig const& b);
/// For each weight of b, in order, the number of the weight of a that it is. Throws MismatchError where they differ.
std::vector<std::size_t> matching_weights(LayerConfig const& a, LayerConfig const& b);

/// Whether a config says the shape of its input; says it, where it does not yet.
bool declares_input(LayerConfig const& config);
void declare_input(LayerConfig& config, Shape shape);

/// The shape of what each layer makes of a sample, by its name. Throws as Layer::from_config does.
std::vector<std::pair<std::string, Shape>> output_shapes(LayerConfig const& config, std::optional<Shape> input = {});

/// Names and shapes of a config's weights, in order. Throws as Layer::from_config does.
std::vector<Executable::Weight> weights_of(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
