// A network as flat data: nodes in topological order, each with the indices of its inputs. The first nodes are the
// network's inputs.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

inline constexpr int max_inputs = 2;          // of a node
inline constexpr int max_network_inputs = 8;  // of a network

/// What the plan knows of a layer. Deduced from what the layer has, never declared twice.
struct Node {
  enum class Kind { input, view, pointwise, compute, loss };
  Kind kind = Kind::input;
  int inputs[max_inputs] = {-1, -1};
  bool propagates = true;     // hands a gradient to its input, where something before wants one
  Shape shape{};              // of one sample of its output
  bool parameters = false;    // has some
  bool reads_input = false;   // its gradient needs its input,
  bool reads_output = false;  // or its output
  bool in_place = false;      // may write over its input, forward and backward
  bool normalizes = false;    // turns a row into probabilities: one pass with the loss after it
  bool streams = false;       // may be called with one part of a sequence after the other
  Index memory = 0;           // memory_of(layer)
  Index state = 0;            // state_of(layer)
};

/// The node of a layer whose input is node `input` with shape `in`.
template <Layer L>
constexpr Node node_of(L const& layer, int input, Shape in) {
  Node node{.inputs = {input, -1}, .shape = layer.output_shape(in), .parameters = parameters_of(layer, in).size() > 0};
  node.memory = memory_of(layer, in);
  node.state = state_of(layer, in);
  if constexpr (requires { layer.streams(in); }) {
    node.streams = layer.streams(in);
  } else {
    node.streams = PointwiseLayer<L> || node.state > 0 || in.rank() == 1 || in[0] == 1;
  }
  if constexpr (ViewLayer<L>) {
    node.kind = Node::Kind::view;
  } else if constexpr (PointwiseLayer<L>) {
    node.kind = Node::Kind::pointwise;
    node.reads_input = decltype(layer.op(0))::needs_input;
    node.in_place = true;
  } else {
    static_assert(
        requires {
          L::backward_reads_input;
          L::backward_reads_output;
        },
        "layer: needs op(key) that gives a Pointwise operation, or is_view, or forward, backward_input, "
        "backward_reads_input "
        "and backward_reads_output");
    node.kind = Node::Kind::compute;
    node.propagates = backpropagates<L>;
    node.reads_input = L::backward_reads_input;
    node.reads_output = L::backward_reads_output;
    if constexpr (requires { L::in_place; }) node.in_place = L::in_place;
    if constexpr (requires { L::normalization; }) node.normalizes = true;
  }
  return node;
}
template <Loss L>
constexpr Node node_of(L const& loss, int input, Shape in) {
  static_cast<void>(loss.target_shape(in));
  return {.kind = Node::Kind::loss, .inputs = {input, -1}, .shape = {1}};
}

}  // namespace coldpress
