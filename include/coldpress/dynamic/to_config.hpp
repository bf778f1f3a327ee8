// A network type as a config: the same layers, names as graph/static_graph.hpp makes them.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/graph_parts.hpp>
#include <coldpress/graph/static_graph.hpp>

#include <tuple>
#include <utility>

namespace coldpress::dynamic {
namespace detail {

/// The graph of a network's function, with its layers as a config has them.
struct LayerGraph : GraphParts {
  std::vector<LayerConfig> layers;                  // of each node after the inputs; without names
  std::vector<coldpress::detail::Sharing> sharing;  // likewise

  template <class L>
  void keep(int, L const& layer, coldpress::detail::Sharing const& shared) {
    layers.push_back({"", layer});
    sharing.push_back(shared);
  }
};
/// The same of a function that may use the layers of a list.
template <class Layers>
struct FunctionGraph : LayerGraph {
  using Types = Layers;
};

/// Gives inputs a name that have none, and layers and shared weights theirs.
void name_layers(LayerGraph& graph);
/// The config of a finished graph.
LayerConfig config_of(std::string name, LayerGraph graph);

/// What the compiler has written down of a network's function. To run that once more might give its layers another
/// order: which operand of a + b comes first, C++ leaves open.
template <class StaticGraph>
LayerGraph graph_of() {
  auto const& known = StaticGraph::recorded;
  LayerGraph graph;
  auto const copy = [](auto const& from, auto& to) { to.assign(from.items.begin(), from.items.end()); };
  copy(known.nodes, graph.nodes), copy(known.names, graph.names), copy(known.outputs, graph.outputs);
  copy(known.owner, graph.owner), copy(known.parameter_node, graph.parameter_node);
  copy(known.first_parameter, graph.first_parameter);
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (graph.keep(i, StaticGraph::template layer<StaticGraph::inputs + i>, known.sharing[StaticGraph::inputs + i]), ...);
  }
  (std::make_integer_sequence<int, StaticGraph::size - StaticGraph::inputs>{});
  return graph;
}

/// Layers one after the other, in containers as they are nested.
template <class L>
constexpr bool is_chain = true;
template <auto expression>
constexpr bool is_chain<coldpress::Graph<expression>> = false;
template <auto... layers>
constexpr bool is_chain<Sequential<layers...>> = (is_chain<std::remove_cvref_t<decltype(layers)>> && ...);

/// Adds the next layers, in the containers of the type. `containers`: so many there were before.
template <auto... layers>
void nest(Sequential<layers...>, std::vector<LayerConfig>::iterator& next, int& containers, SequentialConfig& config) {
  auto const add = [&](auto const& layer) {
    if constexpr (requires { layer.is_container; }) {
      SequentialConfig inner;
      std::string const name = "sequential" + std::to_string(++containers);
      nest(layer, next, containers, inner);
      config.add_layer({name, std::move(inner)});
    } else {
      config.add_layer(std::move(*next++));
    }
  };
  (add(layers), ...);
}

}  // namespace detail

/// The config of a network type: `Net` for samples of shapes `in`.
template <class Net, Inputs in>
LayerConfig to_config(std::string name = "network") {
  auto graph = detail::graph_of<StaticGraph<Net, in>>();
  if constexpr (detail::is_chain<Net>) {
    detail::name_layers(graph);
    SequentialConfig config;
    config.add_input("data", in[0]);
    int containers = 0;
    auto next = graph.layers.begin();
    detail::nest(Net{}, next, containers, config);
    return {std::move(name), std::move(config)};
  } else {
    return detail::config_of(std::move(name), std::move(graph));
  }
}
/// The config of a network's function, run now, for inputs of these shapes. Throws ShapeError where they do not fit,
/// and ConfigError where its layers are no network.
template <class Function, class List, class... More>
LayerConfig to_config(Expression<Function, List> const& expression, Shape in, More const&... more) {
  detail::FunctionGraph<List> graph;
  using Builder = coldpress::detail::GraphBuilder<detail::FunctionGraph<List>>;
  Builder builder{graph};
  auto const input = [&](Shape const& shape) { return coldpress::Value<Builder>{&builder, builder.add_input(shape)}; };
  std::tuple const values{input(in), input(more)...};  // braces: from left to right
  coldpress::detail::add_outputs(std::apply([&](auto... each) { return expression(each...); }, values));
  builder.finish();
  return detail::config_of("network", std::move(graph));
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
