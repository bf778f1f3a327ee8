// A network as flat data: nodes in topological order, each with the indices of its inputs.
#pragma once

#include <coldpress/core/layer_traits.hpp>

#include <array>

namespace coldpress {

inline constexpr int max_inputs = 8;          // per node
inline constexpr int max_network_inputs = 8;  // per network

/// What the plan knows about a layer, from LayerTraits and the layer's functions.
struct Node {
  enum class Kind { input, view, pointwise, join, compute, loss, statistic };
  Kind kind = Kind::input;
  int inputs[max_inputs] = {-1, -1, -1, -1, -1, -1, -1, -1};
  unsigned closed = 0;            // one bit per input, which is set if that input never gets a gradient
  Shape shape{};                  // of one sample of its output
  bool parameters = false;        // has parameters
  bool reads_input = false;       // its gradient needs its inputs
  bool reads_output = false;      // its gradient needs its output
  bool in_place = false;          // may overwrite its input, forward and backward
  bool normalizes = false;        // makes a row into probabilities; may be one pass with the loss after it
  bool commutes = false;          // is a join whose operands may be exchanged
  bool passes_on = false;         // is a join whose derivative with respect to the first operand is 1
  bool streams = false;           // may be called with consecutive parts of a sequence
  bool in_blocks = false;         // can compute blocks of images (core/rows.hpp)
  bool adds = false;              // can add its input gradient to another
  bool fuses_maxima = false;      // can also compute a max pooling after it
  bool image_maxima = false;      // is such a max pooling
  bool disjoint_windows = false;  // no two of its windows have a value in common
  bool positioned = false;        // depends on the position of a value in its row
  Index memory = 0;               // memory_of(layer), in values per sample
  Index state = 0;                // state_of(layer), in values per sample
  int sums = -1;                  // the index of the first sum of a loss or statistic; -1: it has none

  constexpr int input_count() const {
    int count = 0;
    while (count < max_inputs && inputs[count] >= 0) ++count;
    return count;
  }
  constexpr bool open(int input) const { return (closed >> input & 1u) == 0; }
  /// Closes all inputs, for a layer that passes no gradient to any.
  constexpr void close() { closed = ~0u; }
};

namespace detail {
constexpr void connect(Node& node, View<int const> inputs) {
  require(inputs.size() <= max_inputs, "layer: it takes at most 8 inputs; to join more, nest several");
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
        "layer: it needs op(key), which returns a Pointwise operation, or join(), which returns one that Joins, or "
        "is_view, or forward");
    node.kind = Node::Kind::compute;
    node.reads_input = Traits::backward_reads_input;
    node.reads_output = Traits::backward_reads_output;
    node.in_place = Traits::in_place;
    node.normalizes = Traits::normalizes;
    node.in_blocks = capable.image_blocks;
    node.adds = Traits::adds;
    node.fuses_maxima = capable.image_blocks && Traits::fuses_maxima;
    node.image_maxima = capable.image_maxima;
    node.disjoint_windows = capable.disjoint_windows;
    if constexpr (!Traits::propagates) node.close();
  }
  return node;
}
/// The node of a loss, whose inputs are the value that is compared and the targets.
template <Loss L>
constexpr Node node_of(L const& loss, View<int const> inputs, Shapes in) {
  require(in.size() == 2, "loss: it compares two values, the network's and the targets");
  Shape const target = loss.target_shape(in[0]);
  require(target.size() == in[1].size(), "loss: the targets have a different number of values");
  Node node{.kind = Node::Kind::loss, .shape = {1}};
  detail::connect(node, inputs);
  if constexpr (!has_target_gradient<L>) node.closed = 2u;
  return node;
}
/// The node of a statistic.
template <Statistic L>
constexpr Node node_of(L const& statistic, View<int const> inputs, Shapes in) {
  statistic.check(in);
  Node node{.kind = Node::Kind::statistic, .shape = {1}};
  detail::connect(node, inputs);
  node.close();
  return node;
}
/// The node whose values a node has: for a view the node that it views, otherwise itself.
constexpr int source_of(View<Node const> nodes, int node) {
  while (nodes[static_cast<std::size_t>(node)].kind == Node::Kind::view)
    node = nodes[static_cast<std::size_t>(node)].inputs[0];
  return node;
}
/// The shapes of the n inputs of a node.
template <std::size_t n>
constexpr std::array<Shape, n> input_shapes_of(View<Node const> nodes, int node) {
  std::array<Shape, n> shapes{};
  for (std::size_t k = 0; k < n; ++k)
    shapes[k] = nodes[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)].inputs[k])].shape;
  return shapes;
}
/// The node of a layer with one input.
template <class L>
constexpr Node node_of(L const& layer, int input, Shape const& in) {
  return node_of(layer, View<int const>{&input, 1}, Shapes{&in, 1});
}

}  // namespace coldpress
