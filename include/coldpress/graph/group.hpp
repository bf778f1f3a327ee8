// Groups: the layers that are computed in one pass.
#pragma once

#include <coldpress/graph/node.hpp>

#include <span>

namespace coldpress {

/// A value in the workspace: `offset` floats a sample from its start, rows `pitch` apart. Live from step `first` to
/// step `last`.
struct Buffer {
  Index offset = -1, pitch = 0, size = 0;
  int first = -1, last = -1;
  int next = -1;  // while planning: the next buffer by offset

  constexpr bool used() const { return size > 0; }
};

/// Layers computed in one pass: y = chain(head(x)); without a head, y = chain(x). A loss ends the pass it is in.
struct Group {
  int head = -1;  // node
  int chain[max_chain_length] = {};
  int chain_length = 0;
  int loss = -1;    // node
  int input = -1;   // group whose value is read; -1 - k: input k of the network
  int output = -1;  // node whose value this is
  bool chain_needs_input = false;
  bool needed = false;           // an output or a loss depends on it
  bool needs_gradient = false;   // parameters here or before, and something after that passes a gradient back
  bool passes_gradient = false;  // to its input; there it is
  bool adds = false;             //   not the first that arrives,
  bool finishes = false;         //   the last one: the slope of the input's chain is applied
  bool seeded = false;           // the user gives the gradient of this value,
  bool seed_finishes = false;    // and nothing else adds to it
  Buffer value = {}, kept = {}, gradient = {}, memory = {}, addend = {};
  Index state = 0;  // where its state starts, in values a sample

  constexpr int node(int member) const { return head < 0 ? chain[member] : member == 0 ? head : chain[member - 1]; }
  constexpr int size() const { return (head < 0 ? 0 : 1) + chain_length; }
};

namespace detail {

/// Groups the nodes: a pointwise layer joins the group that makes its input, if nothing else reads that; a loss joins a
/// softmax.
constexpr int group_nodes(std::span<Node const> nodes, std::span<int const> outputs, std::span<Group> groups,
                          std::span<int> group_of) {
  int count = 0, inputs = 0;
  auto const source_of = [&](int value) {
    while (nodes[value].kind == Node::Kind::view) value = nodes[value].inputs[0];
    return value;
  };
  auto const is_output = [&](int value) {
    for (int output : outputs) {
      if (source_of(output) == value) return true;
    }
    return false;
  };
  auto const readers = [&](int value) {  // of a value through all its views
    int n = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      for (int input : nodes[i].inputs) {
        if (input < 0 || nodes[i].kind == Node::Kind::view) continue;
        n += source_of(input) == value;
      }
    }
    return n;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node const& node = nodes[i];
    int const self = static_cast<int>(i);
    if (node.kind == Node::Kind::input) {
      group_of[i] = -1 - inputs++;
      continue;
    }
    int const source = source_of(node.inputs[0]);
    int const before = group_of[node.inputs[0]];
    if (node.kind == Node::Kind::view) {
      group_of[i] = before;
      continue;
    }
    Group* const maker = before < 0 ? nullptr : &groups[before];
    bool const alone = maker && maker->loss < 0 && readers(source) == 1 && node.propagates;
    bool const joins_chain = node.kind == Node::Kind::pointwise && alone && !is_output(source) &&
                             maker->chain_length < max_chain_length &&
                             (maker->head < 0 || !nodes[maker->head].normalizes);
    bool const joins_loss = node.kind == Node::Kind::loss && alone && maker->head >= 0 && nodes[maker->head].normalizes;
    if (!joins_chain && !joins_loss) {
      group_of[i] = count;
      groups[count] = Group{.input = before};
      ++count;
    } else {
      group_of[i] = before;
    }
    Group& group = groups[group_of[i]];
    if (node.kind == Node::Kind::compute) group.head = self;
    if (node.kind == Node::Kind::loss) group.loss = self;
    if (node.kind == Node::Kind::pointwise) {
      group.chain_needs_input = group.chain_length > 0 || node.reads_input;
      group.chain[group.chain_length++] = self;
    }
    if (node.kind != Node::Kind::loss) group.output = self;
  }
  return count;
}

}  // namespace detail
}  // namespace coldpress
