// Converts a network type or a network's function to a config with the same layers and names.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/graph_parts.hpp>
#include <coldpress/typed/static_graph.hpp>

#include <tuple>
#include <utility>

namespace coldpress::dynamic {
namespace detail {

/// The graph of a network's function, with its layers in the form that a config has.
struct LayerGraph : GraphParts {
  std::vector<LayerConfig> layers;                  // per node after the inputs, without names
  std::vector<coldpress::detail::Sharing> sharing;  // the same

  template <class L>
  void keep(int, L const& layer, coldpress::detail::Sharing const& shared) {
    layers.push_back({"", layer});
    sharing.push_back(shared);
  }
};
/// The same for a function that may use the layers of a list.
template <class Layers>
struct FunctionGraph : LayerGraph {
  using Types = Layers;
};

/// Gives names to inputs that have none, copies those of the nodes to the layers, and names shared weights.
void name_layers(LayerGraph& graph);
/// The config of a finished graph.
[[nodiscard]] LayerConfig config_of(std::string name, LayerGraph graph);

/// The graph that the compiler recorded. Running the function again might give its layers another order, because C++
/// leaves open which operand of a + b is evaluated first.
template <class StaticGraph>
[[nodiscard]] LayerGraph graph_of() {
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

/// Whether a network is layers one after the other, in containers nested like it.
template <class L>
constexpr bool is_chain = true;
template <auto expression>
constexpr bool is_chain<coldpress::Graph<expression>> = false;
template <auto... layers>
constexpr bool is_chain<Sequential<layers...>> = (is_chain<std::remove_cvref_t<decltype(layers)>> && ...);

/// Adds the next layers, in containers nested like the type. `containers` is the number of containers so far.
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

/// The config of a network type `Net` for samples of shapes `in`.
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
/// The config of a network's function, which is run now, for inputs of these shapes. Throws ShapeError if the shapes do
/// not fit, and ConfigError if the layers do not form a network.
template <class Function, class List, class... More>
LayerConfig to_config(Expression<Function, List> const& expression, Shape in, More const&... more) {
  detail::FunctionGraph<List> graph;
  using Builder = coldpress::detail::GraphBuilder<detail::FunctionGraph<List>>;
  Builder builder{graph};
  auto const input = [&](Shape const& shape) { return coldpress::Value<Builder>{&builder, builder.add_input(shape)}; };
  std::tuple const values{input(in), input(more)...};  // braces are evaluated from left to right
  coldpress::detail::add_outputs(std::apply([&](auto... each) { return expression(each...); }, values));
  builder.finish();
  return detail::config_of("network", std::move(graph));
}

template <class Network>
LayerConfig to_config(Network const&) {
  return to_config<typename Network::Type, Network::inputs>();
}
/// Whether a config can name this optimizer of a network type.
template <class Optimizer>
inline constexpr bool names_optimizer =
    detail::place_of<Optimizer>(static_cast<AnyOptimizer const*>(nullptr)) < std::variant_size_v<AnyOptimizer>;

/// How a static solver trains: its optimizer and options, without its network and objective.
template <class Solver>
requires names_optimizer<typename Solver::Optimizer>
[[nodiscard]] SolverConfig training_of(Solver const& solver) {
  auto optimizer = solver.optimizer();
  decltype(optimizer) const own;
  SolverConfig config;
  config.base_lr = std::exchange(optimizer.learning_rate, own.learning_rate);
  if constexpr (requires { own.momentum; }) config.momentum = std::exchange(optimizer.momentum, own.momentum);
  config.solver = optimizer;
  if (solver.minibatch_size > 0) config.minibatch_size = solver.minibatch_size;
  SolverOptions const& options = Solver::options;
  if (options.clip_gradients > 0) config.clip_gradients = options.clip_gradients;
  if (options.clip_values > 0) config.clip_values = options.clip_values;
  if (options.weight_decay > 0) config.weight_decay = options.weight_decay;
  config.regularization_method = options.regularization_method;
  config.accumulate = options.accumulate;
  if (options.microbatch > 0) config.microbatch = options.microbatch;
  config.sync_batch_normalization = options.sync_batch_normalization;
  config.bfloat16_gradients = options.bfloat16_gradients;
  config.shard_optimizer = options.shard_optimizer;
  config.lr_policy = options.lr_policy;
  config.momentum_policy = options.momentum_policy;
  return config;
}
/// The config of a static solver: its network, objective and optimizer.
template <class Solver>
[[nodiscard]] SolverConfig to_solver_config(Solver const& solver) {
  SolverConfig config = training_of(solver);
  config.network = to_config(solver.network());
  if constexpr (Loss<decltype(Solver::objective)>) config.objective = LayerConfig{"loss", Solver::objective};
  return config;
}

/// Whether two configs describe the same function: the same layers with the same fields, each with the same inputs. It
/// ignores names, batch sizes, which layers work in place, initialisation, and the order of layers in a network with
/// branches. A nested container counts as its layers.
[[nodiscard]] bool same_network(LayerConfig const& a, LayerConfig const& b);
/// The first difference, as a sentence; empty if there is none.
[[nodiscard]] std::string difference(LayerConfig const& a, LayerConfig const& b);
/// For each weight of b, in order, the number of the corresponding weight of a. Throws MismatchError if the networks
/// differ.
std::vector<std::size_t> matching_weights(LayerConfig const& a, LayerConfig const& b);

/// declares_input: whether a config gives the shape of its input. declare_input: adds the shape if it is not yet given.
[[nodiscard]] bool declares_input(LayerConfig const& config);
void declare_input(LayerConfig& config, Shape shape);

/// The output shape of each layer, with the layer's name. Throws what Layer::from_config throws.
std::vector<std::pair<std::string, Shape>> output_shapes(LayerConfig const& config, std::optional<Shape> input = {});

/// The names and shapes of a config's weights, in order. Throws what Layer::from_config throws.
std::vector<Executable::Weight> weights_of(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
