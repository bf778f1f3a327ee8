// Random networks as nodes, with everything that a plan must handle, and the plans made from them.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/graph/plan.hpp>
#include <coldpress/layers.hpp>

#include "support/random.hpp"

#include <algorithm>
#include <vector>

namespace coldpress::test {

struct RandomGraph {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  int losses = 0;
};

namespace detail {

/// A random value of the graph, more likely a recent one.
inline int any_value(Random& random, std::vector<Node> const& nodes) {
  for (;;) {
    int const newest = static_cast<int>(nodes.size()) - 1, back = random.integer(0, 4) == 0 ? newest : 4;
    int const value = static_cast<int>(random.integer(std::max(0, newest - back), newest));
    if (nodes[static_cast<std::size_t>(value)].kind != Node::Kind::loss) return value;
  }
}
/// Another value of the same shape if one is found, else the same value.
inline int partner(Random& random, std::vector<Node> const& nodes, int value) {
  for (int tries = 0; tries < 20; ++tries) {
    int const other = any_value(random, nodes);
    if (nodes[static_cast<std::size_t>(other)].shape == nodes[static_cast<std::size_t>(value)].shape) return other;
  }
  return value;
}

template <class L>
Node made(L const& layer, std::vector<Node> const& nodes, std::vector<int> const& inputs) {
  std::vector<Shape> shapes;
  for (int input : inputs) shapes.push_back(nodes[static_cast<std::size_t>(input)].shape);
  return node_of(layer, inputs, Shapes{shapes});
}

inline Node random_node(Random& random, std::vector<Node> const& nodes) {
  constexpr Index sizes[] = {1, 3, 16, 17, 100, 300};
  Index const size = sizes[random.integer(0, 5)];
  int const from = any_value(random, nodes);
  auto const of = [&](auto const& layer, std::vector<int> const& inputs) { return made(layer, nodes, inputs); };
  switch (random.integer(0, 15)) {
    case 0:
    case 1:
    case 2: {
      Node node = of(Linear{size}, {from});
      if (random.integer(0, 3) == 0) node.memory = random.integer(1, 100);
      if (random.integer(0, 3) == 0) node.reads_output = true;
      return node;
    }
    case 3: {
      Node node = of(Softmax{}, {from});
      node.normalizes =
          random.integer(0, 1) == 0;  // else it is like SoftmaxOver, which works in place and has chains after it
      return node;
    }
    case 4:
      return of(Flatten{}, {from});
    case 5:
      return of(Dropout{}, {from});
    case 6:
    case 7:
      return of(Add{}, {from, partner(random, nodes, from)});
    case 8:
      return of(Subtract{}, {from, partner(random, nodes, from)});
    case 9:
      return of(Multiply{}, {from, partner(random, nodes, from)});
    case 10: {
      std::vector<int> inputs;
      for (Index k = 0, count = random.integer(0, 1) == 0 ? 8 : random.integer(2, 7); k < count; ++k)
        inputs.push_back(any_value(random, nodes));
      return of(Concat{}, inputs);
    }
    case 11:
      return random.integer(0, 2) == 0 ? of(RandomNormal{.shape = {size}}, {}) : of(Slice{.end = 1}, {from});
    default: {
      Node node = of(TanH{}, {from});
      node.reads_input = random.integer(0, 1) == 1;
      return node;
    }
  }
}

}  // namespace detail

/// A graph of up to `most` nodes with one to three inputs and one to four different outputs. With `losses`, it has
/// losses that compare a value with an extra input, or with another value, which may then get a gradient.
inline RandomGraph random_graph(Random& random, int most, bool losses) {
  RandomGraph graph;
  auto& nodes = graph.nodes;
  Index inputs = random.integer(1, 3);
  for (Index k = 0; k < inputs; ++k) nodes.push_back({.shape = {random.integer(1, 300)}});
  for (int length = static_cast<int>(random.integer(1, most)); static_cast<int>(nodes.size()) < length;) {
    Node node = detail::random_node(random, nodes);
    if (random.integer(0, 9) == 0 && node.kind != Node::Kind::view) node.closed |= 1u << random.integer(0, 1);
    nodes.push_back(node);
    if (random.integer(0, 5) == 0 && inputs < 6) {  // a sum with a new input, or with a source
      int const value = static_cast<int>(nodes.size()) - 1;
      bool const source = random.integer(0, 1) == 0;
      nodes.push_back(source ? detail::made(RandomNormal{.shape = node.shape}, nodes, {}) : Node{.shape = node.shape});
      nodes.push_back(detail::made(Add{}, nodes, {value, value + 1}));
      if (!source) ++inputs;
    }
    if (losses && random.integer(0, 9) == 0) {
      int const value = detail::any_value(random, nodes), target = detail::partner(random, nodes, value);
      Node loss = detail::made(MeanSquaredError{}, nodes, {value, target});
      loss.closed = random.integer(0, 1) == 0 ? 2u : 0u;
      nodes.push_back(loss), ++graph.losses;
    }
  }
  std::vector<int> sources;
  for (Index k = 0, count = random.integer(1, 4); k < count || graph.outputs.empty(); ++k) {
    int const output = detail::any_value(random, nodes), source = source_of(nodes, output);
    if (std::find(sources.begin(), sources.end(), source) != sources.end()) continue;
    sources.push_back(source), graph.outputs.push_back(output);
  }
  if (losses) {  // the objective of a solver
    int const from = graph.outputs[0], target = static_cast<int>(nodes.size());
    nodes.push_back({.shape = Shape{nodes[static_cast<std::size_t>(from)].shape}});
    nodes.push_back(detail::made(MeanSquaredError{}, nodes, {from, target}));
    ++graph.losses;
  }
  return graph;
}

struct Planned {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  PlanOptions options;
  std::vector<Group> groups = {};
  std::vector<int> group_of = {};
  PlanSummary size = {};

  Group const& group(int g) const { return groups[static_cast<std::size_t>(g)]; }
  Node const& node(int n) const { return nodes[static_cast<std::size_t>(n)]; }
  int maker(int n) const { return group_of[static_cast<std::size_t>(n)]; }
};
inline Planned plan(std::vector<Node> nodes, std::vector<int> outputs, PlanOptions options) {
  options.pitch = cpu::Layout::pitch;
  Planned p{std::move(nodes), std::move(outputs), options};
  p.groups.resize(p.nodes.size());
  p.group_of.resize(p.nodes.size());
  p.size = make_plan(p.nodes, p.outputs, options, p.groups, p.group_of);
  p.groups.resize(static_cast<std::size_t>(p.size.groups));
  return p;
}
/// Plans in turn for inference, and for training with losses or with the user's gradients, with and without gradients
/// of the inputs.
inline Planned random_plan(Random& random, int number, int most) {
  bool const losses = number % 4 >= 2;
  auto graph = random_graph(random, most, losses);
  return plan(std::move(graph.nodes), std::move(graph.outputs),
              {.training = number % 4 > 0,
               .losses = losses,
               .input_gradient = number % 3 == 0,
               .keep_gradients = number % 8 == 1,
               .adds_in_place = number % 5 > 0});
}

/// The nodes that group g computes, in order.
inline std::vector<int> members(Planned const& p, int g) {
  std::vector<int> all;
  for (int n = 0; n < static_cast<int>(p.nodes.size()); ++n) {
    auto const kind = p.node(n).kind;
    if (kind != Node::Kind::view && kind != Node::Kind::input && p.maker(n) == g) all.push_back(n);
  }
  return all;
}
/// The first value that the members of a group read, if they may overwrite it as they go, else -1. This follows from
/// the layers, whatever the plan says: pointwise layers and joins work element by element, and any other layer that
/// works in place says so (Node::in_place). Such a layer must be alone, or with the loss after it.
inline int may_write_over(Planned const& p, std::vector<int> const& inside) {
  Node const& first = p.node(inside[0]);
  bool const alone = inside.size() == 1 || p.node(inside[1]).kind == Node::Kind::loss;
  bool const may = first.kind == Node::Kind::compute ? first.in_place && alone : first.kind != Node::Kind::loss;
  return may && first.input_count() > 0 ? source_of(p.nodes, first.inputs[0]) : -1;
}
/// Whether two values are in exactly the same place.
inline bool in_one_place(Buffer const& a, Buffer const& b) { return a.offset == b.offset && a.size == b.size; }

}  // namespace coldpress::test
