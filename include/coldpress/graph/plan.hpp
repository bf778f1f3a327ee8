// The plan: which layers are computed in one pass, and where each value lives. One function, run by the compiler for a
// static network and at run time for a dynamic one.
#pragma once

#include <coldpress/graph/arena.hpp>

#include <algorithm>

namespace coldpress {

struct PlanOptions {
  bool training = false;        // keep what backward needs
  bool input_gradient = false;  // the network's inputs have gradients too
  bool keep_gradients =
      false;  // of values, to the end: input and parameter gradients may then be asked for in two passes
  Index (*pitch)(Index) = nullptr;
};

struct PlanSize {
  int groups = 0;
  Index workspace = 0;  // floats a sample
  Index sum = 0;        // the same without any reuse
  Index state = 0;      // values a sample that are carried from call to call
  bool streams = true;
  Buffer input_gradients[max_network_inputs] = {};  // rows as the user sees them; unused: nothing reaches that input
  bool reaches_all = true;                          // none of those asked for is unused
};

namespace detail {

/// Which groups are computed at all, which have a gradient, and in what order gradients of one value arrive.
constexpr void trace(std::span<Node const> nodes, std::span<int const> outputs, PlanOptions options,
                     std::span<Group> groups, std::span<int const> group_of) {
  int const count = static_cast<int>(groups.size());
  bool has_loss = false;
  for (Group const& group : groups) has_loss = has_loss || group.loss >= 0;
  for (int output : outputs) {
    if (group_of[output] < 0) continue;
    groups[group_of[output]].needed = true;
    groups[group_of[output]].seeded = options.training && !has_loss;
  }
  auto const propagates = [&](Group const& group) {  // its first node alone may stop a gradient
    return nodes[group.size() > 0 ? group.node(0) : group.loss].propagates;
  };
  auto const wants = [&](int g) {
    return g < 0 ? options.training && options.input_gradient : groups[g].needs_gradient;
  };
  for (Group& group : groups) {
    bool const parameters = group.head >= 0 && nodes[group.head].parameters;
    group.needs_gradient = (options.training && parameters) || (propagates(group) && wants(group.input));
  }
  for (int g = count - 1; g >= 0; --g) {  // readers come later: what they say of g is final
    Group& group = groups[g];
    group.needed = group.needed || group.loss >= 0;
    // What reaches the group: the user's gradient or a loss's, or passed on by readers.
    bool reached = group.seeded || group.loss >= 0;
    int first = -1;
    for (int c = g + 1; c < count; ++c) {
      if (groups[c].input != g) continue;
      group.needed = group.needed || groups[c].needed;
      if (!groups[c].passes_gradient) continue;
      reached = true;
      if (first < 0) first = c;
    }
    group.needs_gradient = group.needs_gradient && reached && group.needed;
    group.seed_finishes = first < 0;
    group.passes_gradient = group.needs_gradient && propagates(group) && wants(group.input);
  }
  for (int g = 0; g < count; ++g) {
    Group& group = groups[g];
    if (!group.passes_gradient) continue;
    group.finishes = true;
    bool seeded = group.input >= 0 && groups[group.input].seeded;
    for (int output : outputs) seeded = seeded || (options.training && !has_loss && group_of[output] == group.input);
    group.adds = seeded && group.loss < 0;
    for (int c = 0; c < count; ++c) {  // losses come first, then the groups from the last to the first
      if (c == g || groups[c].input != group.input || !groups[c].passes_gradient) continue;
      bool const before = group.loss < 0 && (groups[c].loss >= 0 || c > g);
      if (before) group.adds = true;
      if (!before) group.finishes = false;
    }
  }
}

}  // namespace detail

/// Plans the nodes, of which `outputs` are the network's results. Writes groups and, for every node, the group that
/// makes its value (-1 - k for input k); both spans are as long as nodes.
constexpr PlanSize make_plan(std::span<Node const> nodes, std::span<int const> outputs, PlanOptions options,
                             std::span<Group> groups, std::span<int> group_of) {
  PlanSize plan{.groups = detail::group_nodes(nodes, outputs, groups, group_of)};
  int const count = plan.groups, end = 2 * count + 1;
  groups = groups.first(count);
  detail::trace(nodes, outputs, options, groups, group_of);
  auto const padded = [&](int node) { return options.pitch(nodes[node].shape.size()); };
  auto const cells = [](Index n) { return (n + 15) / 16 * 16; };
  auto const backward = [&](int g) {
    return groups[g].loss >= 0 ? g : 2 * count - g;
  };  // the step at which a group passes gradients on
  auto const is_output = [&](int g) {
    for (int output : outputs) {
      if (group_of[output] == g) return true;
    }
    return false;
  };

  for (int g = 0; g < count; ++g) {
    Group& group = groups[g];
    if (!group.needed || group.output < 0) continue;  // a loss of its own has no value
    if (group.head >= 0) {
      Node const& head = nodes[group.head];
      int const last = !group.needs_gradient ? g : options.keep_gradients ? end : backward(g);
      group.memory = {.pitch = cells(head.memory), .size = cells(head.memory), .first = g, .last = last};
      group.state = plan.state;
      plan.state += cells(head.state);
      plan.streams = plan.streams && head.streams;
    }
    bool const output = is_output(g);
    Index const pitch = output ? nodes[group.output].shape.size() : padded(group.output);  // the user's rows touch
    // Gradients arrive from `first` to `slope`, where that of the chain is applied; the value is read until `last`.
    int last = g, first = group.seeded ? count : end, slope = group.seeded ? count : -1;
    for (int c = g + 1; c < count; ++c) {
      Group const& reader = groups[c];
      if (reader.input != g || !reader.needed) continue;
      if (reader.passes_gradient) first = std::min(first, backward(c)), slope = std::max(slope, backward(c));
      bool const again =
          reader.needs_gradient && (reader.head >= 0 ? nodes[reader.head].reads_input : reader.chain_needs_input);
      last = std::max(last, !again ? c : options.keep_gradients ? end : backward(c));
    }
    if (group.needs_gradient && group.chain_length > 0) last = std::max(last, slope);
    if (group.needs_gradient && group.head >= 0 && nodes[group.head].reads_output)
      last = std::max(last, options.keep_gradients ? end : backward(g));
    group.value = {.pitch = pitch, .size = cells(pitch), .first = g, .last = output ? end : last};
    if (group.adds) {
      Index const from = padded(group.input < 0 ? -1 - group.input : groups[group.input].output);
      group.addend = {.pitch = from, .size = from, .first = backward(g), .last = backward(g)};
    }
    Index const size = padded(group.output);
    if (group.needs_gradient && group.head >= 0 && group.chain_needs_input)
      group.kept = {.pitch = size, .size = size, .first = g, .last = slope};
    if (group.needs_gradient && group.loss < 0)
      group.gradient = {
          .pitch = size, .size = size, .first = first, .last = options.keep_gradients ? end : backward(g)};
  }

  // In place: a group may write over a value that nothing reads after it.
  auto const shares = [&](int g) {
    Group const& group = groups[g];
    if (group.input < 0 || group.output < 0 || !group.needed) return false;
    bool const may = group.head < 0 || (nodes[group.head].in_place && group.chain_length == 0);
    Buffer const& from = groups[group.input].value;
    bool const slope_after =
        options.training && group.loss >= 0 && groups[group.input].chain_length > 0;  // it reads the value
    return may && !slope_after && from.last == g && from.pitch == group.value.pitch;
  };
  for (int g = count - 1; g > 0; --g) {  // from the last to the first, so that a run of them lives as long as its end
    if (shares(g)) groups[groups[g].input].value.last = groups[g].value.last, groups[g].value.first = -1;
  }
  using detail::Arena;
  Arena arena{groups};
  for (int g = 0; g < count; ++g) {
    Group& group = groups[g];
    plan.sum += group.value.size + group.kept.size + group.gradient.size + group.memory.size + group.addend.size;
    if (group.value.used() && group.value.first < 0) {
      group.value.offset = groups[group.input].value.offset;
    } else {
      arena.place(g, Arena::value);
    }
    arena.place(g, Arena::kept);
    arena.place(g, Arena::memory);
  }
  for (int g = count - 1; g >= 0; --g) arena.place(g, Arena::gradient), arena.place(g, Arena::addend);
  plan.workspace = arena.size();
  if (options.training && options.input_gradient) {
    int input = 0;
    for (Node const& node : nodes) {
      if (node.kind != Node::Kind::input) break;
      bool reached = false;
      for (Group const& group : groups) reached = reached || (group.input == -1 - input && group.passes_gradient);
      for (int output : outputs) reached = reached || group_of[output] == -1 - input;
      Index const pitch = node.shape.size();
      plan.reaches_all = plan.reaches_all && reached;
      if (reached) {
        plan.input_gradients[input] = {
            .offset = plan.workspace, .pitch = pitch, .size = cells(pitch), .first = count, .last = end};
        plan.workspace += cells(pitch);
        plan.sum += cells(pitch);
      }
      ++input;
    }
  }
  return plan;
}

}  // namespace coldpress
