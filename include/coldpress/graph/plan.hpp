// The plan: which layers are computed in one pass, and where each value lives. One function, run by the compiler for a
// static network and at run time for a dynamic one.
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
  int input = -1;   // group whose value is read; -1: the network's input
  int output = -1;  // node whose value this is
  bool chain_needs_input = false;
  bool needs_gradient = false;  // parameters here or before
  Buffer value = {}, kept = {}, gradient = {}, memory = {};
  Index state = 0;  // where its state starts, in values a sample

  constexpr int node(int member) const { return head < 0 ? chain[member] : member == 0 ? head : chain[member - 1]; }
  constexpr int size() const { return (head < 0 ? 0 : 1) + chain_length; }
};

struct PlanOptions {
  bool training = false;        // keep what backward needs
  bool input_gradient = false;  // the network's input has a gradient too
  bool keep_gradients =
      false;  // of values, to the end: input and parameter gradients may then be asked for in two passes
  Index (*pitch)(Index) = nullptr;
};

struct PlanSize {
  int groups = 0;
  int output = -1;      // group that holds the network's output; -1: the input itself
  Index workspace = 0;  // floats a sample
  Index sum = 0;        // the same without any reuse
  Index state = 0;      // values a sample that are carried from call to call
  bool streams = true;
  Buffer input_gradient = {};  // rows as the user sees them
};

namespace detail {

/// Groups the nodes: a pointwise layer joins the group that makes its input, if nothing else reads that; a loss joins a
/// softmax.
constexpr int group_nodes(std::span<Node const> nodes, int output, std::span<Group> groups, std::span<int> group_of) {
  int count = 0;
  auto const readers = [&](int value) {  // of a value through all its views
    int n = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      for (int input : nodes[i].inputs) {
        if (input < 0 || nodes[i].kind == Node::Kind::view) continue;
        while (nodes[input].kind == Node::Kind::view) input = nodes[input].inputs[0];
        n += input == value;
      }
    }
    return n;
  };
  int output_value = output;
  while (nodes[output_value].kind == Node::Kind::view) output_value = nodes[output_value].inputs[0];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node const& node = nodes[i];
    int const self = static_cast<int>(i);
    if (node.kind == Node::Kind::input) {
      group_of[i] = -1;
      continue;
    }
    int source = node.inputs[0];
    while (nodes[source].kind == Node::Kind::view) source = nodes[source].inputs[0];
    int const before = group_of[node.inputs[0]];
    if (node.kind == Node::Kind::view) {
      group_of[i] = before;
      continue;
    }
    Group* const maker = before < 0 ? nullptr : &groups[before];
    bool const alone = maker && maker->loss < 0 && readers(source) == 1;
    bool const joins_chain = node.kind == Node::Kind::pointwise && alone && source != output_value &&
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

/// Places buffers first fit, in the order given: as low as nothing else alive at the same time is in the way.
class Arena {
 public:
  constexpr explicit Arena(std::span<Group> groups) : groups_(groups) {}
  constexpr void place(int id) {
    Buffer& buffer = at(id);
    if (!buffer.used()) return;
    Index offset = 0;
    for (int other = first_; other >= 0; other = at(other).next) {
      Buffer const& placed = at(other);
      if (placed.last < buffer.first || buffer.last < placed.first) continue;
      if (placed.offset >= offset + buffer.size) break;
      if (placed.offset + placed.size > offset) offset = placed.offset + placed.size;
    }
    buffer.offset = offset;
    if (offset + buffer.size > size_) size_ = offset + buffer.size;
    int* link = &first_;
    while (*link >= 0 && at(*link).offset < offset) link = &at(*link).next;
    buffer.next = *link;
    *link = id;
  }
  constexpr Index size() const { return size_; }

 private:
  constexpr Buffer& at(int id) {
    Group& group = groups_[id / 4];
    return id % 4 == 0 ? group.value : id % 4 == 1 ? group.kept : id % 4 == 2 ? group.gradient : group.memory;
  }
  std::span<Group> groups_;
  int first_ = -1;
  Index size_ = 0;
};

}  // namespace detail

/// Plans the nodes, of which `output` is the network's result. Writes groups and, for every node, the group that makes
/// its value; both spans are as long as nodes.
constexpr PlanSize make_plan(std::span<Node const> nodes, int output, PlanOptions options, std::span<Group> groups,
                             std::span<int> group_of) {
  PlanSize plan{.groups = detail::group_nodes(nodes, output, groups, group_of), .output = group_of[output]};
  int const count = plan.groups, end = 2 * count + 1;
  groups = groups.first(count);
  for (Node const& node : nodes) plan.streams = plan.streams && (node.kind == Node::Kind::input || node.streams);
  auto const padded = [&](int node) { return options.pitch(nodes[node].shape.size()); };
  auto const cells = [](Index n) { return (n + 15) / 16 * 16; };
  auto const backward = [&](int g) {
    return groups[g].loss >= 0 ? g : 2 * count - g;
  };  // the step at which a group passes gradients on

  for (int g = 0; g < count; ++g) {
    Group& group = groups[g];
    group.needs_gradient =
        options.training && (options.input_gradient || (group.input >= 0 && groups[group.input].needs_gradient) ||
                             (group.head >= 0 && nodes[group.head].parameters));
    if (group.output < 0) continue;  // a loss of its own: no value
    if (group.head >= 0) {
      Index const memory = cells(nodes[group.head].memory);
      group.memory = {.pitch = memory,
                      .size = memory,
                      .first = g,
                      .last = !options.training        ? g
                              : options.keep_gradients ? end
                                                       : backward(g)};
      group.state = plan.state;
      plan.state += cells(nodes[group.head].state);
    }
    Index const pitch = g == plan.output ? nodes[output].shape.size() : padded(group.output);  // the user's rows touch
    int last_read = g, first_consumer = -1, last_consumer = -1;
    for (int c = g + 1; c < count; ++c) {
      if (groups[c].input != g) continue;
      if (first_consumer < 0) first_consumer = c;
      last_consumer = c;
      bool const again =
          options.training && (groups[c].head >= 0 ? nodes[groups[c].head].reads_input : groups[c].chain_needs_input);
      int const read = again ? (options.keep_gradients ? end : backward(c)) : c;
      if (read > last_read) last_read = read;
    }
    // The slope of the chain is applied where the last contribution to its gradient arrives.
    int const slope = first_consumer < 0 ? count : backward(first_consumer);
    if (options.training && group.chain_length > 0 && slope > last_read) last_read = slope;
    if (options.training && group.head >= 0 && nodes[group.head].reads_output && backward(g) > last_read)
      last_read = backward(g);
    group.value = {.pitch = pitch, .size = cells(pitch), .first = g, .last = g == plan.output ? end : last_read};
    if (options.training && group.head >= 0 && group.chain_needs_input) {
      group.kept = {.pitch = padded(group.output), .size = padded(group.output), .first = g, .last = slope};
    }
    if (group.needs_gradient && group.loss < 0) {
      int const first = last_consumer < 0 ? count : backward(last_consumer);
      int const last = options.keep_gradients ? end : backward(g);
      group.gradient = {.pitch = padded(group.output), .size = padded(group.output), .first = first, .last = last};
    }
  }

  // In place: a group may write over a value that nothing reads after it.
  auto const shares = [&](int g) {
    Group const& group = groups[g];
    if (group.input < 0 || group.output < 0) return false;
    bool const may = group.head < 0 || (nodes[group.head].in_place && group.chain_length == 0);
    Buffer const& from = groups[group.input].value;
    bool const slope_after =
        options.training && group.loss >= 0 && groups[group.input].chain_length > 0;  // it reads the value
    return may && !slope_after && from.last == g && from.pitch == group.value.pitch;
  };
  for (int g = count - 1; g > 0; --g) {  // from the last to the first, so that a run of them lives as long as its end
    if (shares(g)) groups[groups[g].input].value.last = groups[g].value.last, groups[g].value.first = -1;
  }
  detail::Arena arena{groups};
  for (int g = 0; g < count; ++g) {
    Group& group = groups[g];
    plan.sum += group.value.size + group.kept.size + group.gradient.size + group.memory.size;
    if (group.value.used() && group.value.first < 0) {
      group.value.offset = groups[group.input].value.offset;
    } else {
      arena.place(4 * g);
    }
    arena.place(4 * g + 1);
    arena.place(4 * g + 3);
  }
  for (int g = count - 1; g >= 0; --g) arena.place(4 * g + 2);
  plan.workspace = arena.size();
  if (options.training && options.input_gradient) {
    Index const pitch = nodes[0].shape.size();
    plan.input_gradient = {.offset = plan.workspace, .pitch = pitch, .size = cells(pitch), .first = count, .last = end};
    plan.workspace += cells(pitch);
    plan.sum += cells(pitch);
  }
  return plan;
}

}  // namespace coldpress
