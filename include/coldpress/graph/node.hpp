// A network as flat data: nodes in topological order, each with the indices of its inputs.
#pragma once

#include <coldpress/core/layer_traits.hpp>

namespace coldpress {

inline constexpr int max_inputs = 8;          // of a node
inline constexpr int max_network_inputs = 8;  // of a network

/// What the plan knows of a layer: what LayerTraits and the layer's functions say.
struct Node {
  enum class Kind { input, view, pointwise, join, compute, loss, statistic };
  Kind kind = Kind::input;
  int inputs[max_inputs] = {-1, -1, -1, -1, -1, -1, -1, -1};
  unsigned closed = 0;            // a bit for each input that gets no gradient, whatever wants one before
  Shape shape{};                  // of one sample of its output
  bool parameters = false;        // has some
  bool reads_input = false;       // its gradient needs its inputs,
  bool reads_output = false;      // or its output
  bool in_place = false;          // may write over its input, forward and backward
  bool normalizes = false;        // turns a row into probabilities: one pass with the loss after it
  bool commutes = false;          // a join whose operands may change places,
  bool passes_on = false;         // or whose slope by the first is 1 everywhere
  bool streams = false;           // may be called with one part of a sequence after the other
  bool in_blocks = false;         // computes blocks of images (core/rows.hpp) at once
  bool fuses_maxima = false;      // and the maxima of a pooling behind it
  bool image_maxima = false;      // is such a pooling
  bool disjoint_windows = false;  // whose windows have no value in common
  bool positioned = false;        // asks where in a row a value is
  Index memory = 0;               // memory_of(layer)
  Index state = 0;                // state_of(layer)
  int sums = -1;                  // where those of a loss of the network, or of a statistic, start

  constexpr int input_count() const {
    int count = 0;
    while (count < max_inputs && inputs[count] >= 0) ++count;
    return count;
  }
  constexpr bool open(int input) const { return (closed >> input & 1u) == 0; }
  /// The same for a layer that is not to hand a gradient to any input.
  constexpr void close() { closed = ~0u; }
};

namespace detail {
constexpr void connect(Node& node, View<int const> inputs) {
  require(inputs.size() <= max_inputs, "layer: takes at most 8 inputs; nest what joins more");
  for (std::size_t k = 0; k < inputs.size(); ++k) node.inputs[k] = inputs[k];
}
}  // namespace detail

/// The node of a layer that reads the nodes `inputs` with shapes `in`.
template <Layer L>
constexpr Node node_of(L const& layer, View<int const> inputs, Shapes in) {
  Node node{.shape = output_shape_of(layer, in), .parameters = parameters_of(layer, in).size() > 0};
  detail::connect(node, inputs);
  node.memory = memory_of(layer, in);
  node.state = state_of(layer, in);
  using Traits = LayerTraits<L>;
  InputCapabilities const capable = Traits::with_input(layer, in);
  node.streams = capable.streaming == StreamSupport::always;
  if constexpr (ViewLayer<L>) {
    node.kind = Node::Kind::view;
  } else if constexpr (PointwiseLayer<L>) {
    node.kind = Node::Kind::pointwise;
    node.reads_input = decltype(layer.op(0))::needs_input;
    node.in_place = true;
    node.positioned = Traits::positioned;
  } else if constexpr (JoinLayer<L>) {
    auto const op = layer.join();
    node.kind = Node::Kind::join;
    node.reads_input = op.needs_inputs;
    node.in_place = true;
    node.commutes = op.commutes;
    if constexpr (!op.needs_inputs) node.passes_on = op.first(0.0f, 0.0f) == 1.0f;
  } else {
    static_assert(
        requires(detail::Anything const& any) { layer.forward(any, any); },
        "layer: needs op(key) that gives a Pointwise operation, or join() that gives one that Joins, or to be a view, "
        "or "
        "forward");
    static_assert(
        !Traits::propagates || requires { L::capabilities; },
        "layer: where it has backward_input, it declares what that reads: static constexpr Capabilities "
        "capabilities{.backward_reads_input = ..., .backward_reads_output = ...}");
    node.kind = Node::Kind::compute;
    node.reads_input = Traits::backward_reads_input;
    node.reads_output = Traits::backward_reads_output;
    node.in_place = Traits::in_place;
    node.normalizes = Traits::normalizes;
    node.in_blocks = capable.image_blocks;
    node.fuses_maxima = capable.image_blocks && Traits::fuses_maxima;
    node.image_maxima = capable.image_maxima;
    node.disjoint_windows = capable.disjoint_windows;
    if constexpr (!Traits::propagates) node.close();
  }
  return node;
}
/// Of a loss: it reads what is compared, and the targets.
template <Loss L>
constexpr Node node_of(L const& loss, View<int const> inputs, Shapes in) {
  require(in.size() == 2, "loss: compares two values, the network's and the targets");
  Shape const target = loss.target_shape(in[0]);
  require(target.size() == in[1].size(), "loss: the targets have another number of values");
  Node node{.kind = Node::Kind::loss, .shape = {1}};
  detail::connect(node, inputs);
  if constexpr (!has_target_gradient<L>) node.closed = 2u;
  return node;
}
/// Of a statistic.
template <Statistic L>
constexpr Node node_of(L const& statistic, View<int const> inputs, Shapes in) {
  statistic.check(in);
  Node node{.kind = Node::Kind::statistic, .shape = {1}};
  detail::connect(node, inputs);
  node.close();
  return node;
}
/// The node whose values a node has, where it is a view.
constexpr int source_of(View<Node const> nodes, int node) {
  while (nodes[static_cast<std::size_t>(node)].kind == Node::Kind::view)
    node = nodes[static_cast<std::size_t>(node)].inputs[0];
  return node;
}
/// Of a layer with one input.
template <class L>
constexpr Node node_of(L const& layer, int input, Shape const& in) {
  return node_of(layer, View<int const>{&input, 1}, Shapes{&in, 1});
}

}  // namespace coldpress
