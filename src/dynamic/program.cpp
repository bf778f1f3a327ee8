// Plans a config, with the layers of an objective behind it, and makes those tables that are the same for all backends.
#include "program.hpp"

namespace coldpress::dynamic {

Program::Program(Graph const& graph, PlanOptions options, PlanOptions planned, Objective const* objective)
    : graph_(graph),
      options_(options),
      layers_(graph.layers),
      nodes_(graph.nodes),
      names_(graph.names),
      first_parameter_(graph.first_parameter),
      slots_(graph.parameters.size()) {
  if (objective) add(*objective);
  for (Node const& node : nodes_) {
    first_shape_.push_back(static_cast<int>(shapes_.size()));
    for (int k = 0; k < node.input_count(); ++k)
      shapes_.push_back(nodes_[static_cast<std::size_t>(node.inputs[k])].shape);
  }
  first_shape_.push_back(static_cast<int>(shapes_.size()));
  groups_.resize(nodes_.size());
  group_of_.resize(nodes_.size());
  plan_ = make_plan(nodes_, graph.outputs, planned, groups_, group_of_);
  for (int const node : graph.outputs) outputs_.push_back(group_of_[static_cast<std::size_t>(node)]);
  for (int k = inputs_capacity; k-- > 0;) {
    int const node = k < graph.inputs() ? k : target_;
    columns_.push_back(node < 0 ? 0 : nodes_[static_cast<std::size_t>(node)].shape.size());
  }
  for_each_group([&](int g) {
    int const output = group(g).output, pooling = group(g).pooling;
    columns_.push_back(output < 0 ? 1 : nodes_[static_cast<std::size_t>(output)].shape.size());
    windows_.emplace_back();
    if (pooling < 0) return;
    auto const node = static_cast<std::size_t>(pooling);
    windows_.back() = std::get<Pooling>(layers_[node]).geometry(inputs_of(node)[0]);
  });
}

bool Program::calls_primitives() const {
  bool all = std::ranges::all_of(outputs_, [](int group) { return group >= 0; });
  for_each_group([&](int g) {
    head(
        g,
        [&](auto const& layer) {
          using Traits = LayerTraits<std::remove_cvref_t<decltype(layer)>>;
          all = all && Traits::calls_primitives && !Traits::with_input(layer, head_inputs(g)).loops_too;
        },
        [] {});
  });
  return all;
}

/// Adds the objective's layers, its targets as one more input, and its loss.
void Program::add(Objective const& objective) {
  int from = graph_.outputs[0];
  auto const shape = [&] { return nodes_[static_cast<std::size_t>(from)].shape; };
  auto const push = [&](Node const& node, GraphLayer const& layer) {
    nodes_.push_back(node);
    layers_.push_back(layer);
    names_.emplace_back();
    first_parameter_.push_back(first_parameter_.back());
    return static_cast<int>(nodes_.size()) - 1;
  };
  for (LayerType const& type : objective.layers) {
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (OneInput<L> && !has_parameters<L>)  // objective_of has refused others
            from = push(node_of(layer, from, shape()), layer);
        },
        type);
  }
  std::visit(
      [&](auto const& loss) {
        Shape const shapes[] = {shape(), loss.target_shape(shape())};
        target_ = push(Node{.shape = shapes[1]}, Flatten{});
        int const inputs[] = {from, target_};
        Node node = node_of(loss, inputs, shapes);
        node.closed |= 2u;
        push(node, loss);
      },
      objective.loss);
}

}  // namespace coldpress::dynamic
