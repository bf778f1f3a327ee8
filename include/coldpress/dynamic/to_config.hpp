// A network type as a config: the same layers, names as graph/static_graph.hpp makes them.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/graph/static_graph.hpp>

#include <utility>

namespace coldpress::dynamic {
namespace detail {

/// Adds the layers of a Sequential to a container; `node` and `container` count through all of them.
template <class Graph, auto... layers>
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

template <class Graph, auto layer, class L>
void add_layer(L const&, SequentialConfig& config, int& node, int& containers) {
  if constexpr (requires { typename coldpress::detail::Flattened<L>::type; }) {
    SequentialConfig inner;
    std::string name = "sequential";
    name.append(std::to_string(++containers));
    add_layers<Graph>(layer, inner, node, containers);
    config.add_layer({std::move(name), inner});
  } else {
    auto const i = static_cast<std::size_t>(++node);
    LayerConfig single{std::string{Graph::names[i].view()}, bare(layer)};
    if (!Graph::share_names[i].empty()) single.params.push_back({.name = std::string{Graph::share_names[i]}});
    config.add_layer(std::move(single));
  }
}
template <class Graph, auto... layers>
void add_layers(Sequential<layers...>, SequentialConfig& config, int& node, int& containers) {
  (add_layer<Graph, layers>(layers, config, node, containers), ...);
}

}  // namespace detail

/// The config of a network type: `Net` for samples of shape `in`.
template <class Net, Shape in>
LayerConfig to_config(std::string name = "network") {
  SequentialConfig config;
  config.add_input("data", in);
  int node = 0, containers = 0;
  detail::add_layers<StaticGraph<Net, in>>(Net{}, config, node, containers);
  return {std::move(name), std::move(config)};
}

template <class Network>
LayerConfig to_config(Network const&) {
  return to_config<typename Network::Type, Network::input_shape>();
}
/// A static solver as a config: its network, objective and optimizer.
template <class Solver>
SolverConfig to_solver_config(Solver const& solver) {
  auto optimizer = solver.optimizer();
  decltype(optimizer) const own;
  SolverConfig config{.network = to_config(solver.network()), .objective = LayerConfig{"loss", Solver::objective}};
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

/// Whether two configs describe the same function: the same layers in the same order with the same fields. Names,
/// batch, wiring in place, and how weights start are not compared; nested containers count as their layers.
bool same_network(LayerConfig const& a, LayerConfig const& b);
/// The first difference, as a sentence; empty if there is none.
std::string difference(LayerConfig const& a, LayerConfig const& b);

/// Whether a config says the shape of its input; says it, where it does not yet.
bool declares_input(LayerConfig const& config);
void declare_input(LayerConfig& config, Shape shape);

/// The shape of what each layer makes of a sample, by its name. Throws as Layer::from_config does.
std::vector<std::pair<std::string, Shape>> output_shapes(LayerConfig const& config, std::optional<Shape> input = {});

/// Names and shapes of a config's weights, in order. Throws as Layer::from_config does.
std::vector<Executable::Weight> weights_of(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
