// The plan: which layers are computed in one pass, and where each value is in memory.
#pragma once

// One function makes it: at compile time for a static network, at run time for a dynamic one.

#include <coldpress/core/freestanding.hpp>
#include <coldpress/graph/arena.hpp>

namespace coldpress {

struct PlanOptions {
  bool training = false;        // keep what backward needs
  bool losses = false;          // compute losses and statistics; gradients start there, not at the outputs
  bool input_gradient = false;  // compute the gradients of the network's inputs, too
  bool keep_gradients = false;  // of values, to the end: those of inputs and parameters may come from two passes
  Index blocks = PTRDIFF_MAX;  // the most blocks of images in a minibatch; 0: none are used
  bool adds_in_place = true;   // where layers can, add gradients to others as they are computed
  Index (*pitch)(Index) = nullptr;  // from one row of so many columns to the next: the backend's
};

/// What a plan comes to, besides its groups.
struct PlanSummary {
  int groups = 0;
  Index workspace = 0;  // values per sample
  Index sum = 0;        // the same if no memory were reused
  Index state = 0;      // values per sample that are carried from call to call
  bool streams = true;
  Buffer input_gradients[max_network_inputs] = {};  // without padding, as the user sees them; unused: none arrives
  bool reaches_all = true;                          // a gradient arrives at every input for which one was requested
  bool reads[max_network_inputs + 1] = {};          // whether anything that is needed reads this input
  Index visited = 0;                                // buffers looked at while others were placed: the cost of planning
};

namespace detail {

/// The step at which each group is computed. Forward passes are at steps 0, 1, ... At step `count` come the losses and
/// then the statistics, or the user's gradients. After that, the groups pass gradients back, from the last to the
/// first.
struct Schedule {
  int count;
  bool losses;
  constexpr int forward(Group const& group, int g) const {
    return losses && (group.loss >= 0 || group.statistic >= 0) ? count : g;
  }
  constexpr int backward(Group const& group, int g) const { return group.loss >= 0 ? count : 2 * count - g; }
  constexpr int end() const { return 2 * count + 1; }
};

/// Finds which groups are computed, which have a gradient, and in which order the gradients of a value arrive.
constexpr void trace(View<Node const> nodes, View<int const> outputs, PlanOptions options, View<Group> groups,
                     View<int const> group_of) {
  int const count = static_cast<int>(groups.size());
  bool const seeds = options.training && !options.losses;
  auto const at = [&](int g) -> Group& { return groups[static_cast<std::size_t>(g)]; };
  bool input_seeded[max_network_inputs + 1] = {};
  for (int output : outputs) {
    int const g = group_of[output];
    if (g < 0) input_seeded[-1 - g] = seeds;
    if (g >= 0) at(g).is_output = at(g).needed = true, at(g).seeded = seeds;
  }
  auto const wants = [&](Edge const& edge) {
    if (!edge.open) return false;
    return edge.from < 0 ? options.training && options.input_gradient && -1 - edge.from < max_network_inputs
                         : at(edge.from).needs_gradient;
  };
  for (Group& group : groups) {
    group.needs_gradient = options.training && group.head >= 0 && nodes[group.head].parameters;
    group.readers = 0;
    for (int k = 0; k < group.edge_count; ++k) {
      group.needs_gradient = group.needs_gradient || wants(group.edges[k]);
      if (group.edges[k].from >= 0) ++at(group.edges[k].from).readers;
    }
  }
  // A gradient reaches a group from the user, from a loss or from its readers. Readers come later in the list, so that
  // in this order everything about them is already known.
  for (Group& group : groups) group.seed_finishes = true;
  for (int g = count - 1; g >= 0; --g) {
    Group& group = at(g);
    group.needed = group.needed || group.loss >= 0 || group.statistic >= 0;
    bool const reached = group.seeded || group.loss >= 0 || !group.seed_finishes;
    group.needs_gradient = group.needs_gradient && reached && group.needed;
    for (int k = 0; k < group.edge_count; ++k) {
      Edge& edge = group.edges[k];
      edge.passes_gradient = group.needs_gradient && wants(edge);
      if (edge.from < 0) continue;
      Group& from = at(edge.from);
      from.needed = from.needed || group.needed;
      if (edge.passes_gradient) from.seed_finishes = false;
    }
  }
  // In the order of arrival, every gradient except the first is added, and so is the first if the user gives one before
  // it. The last one finishes.
  int input_arrival[max_network_inputs + 1] = {};
  for (int& arrival : input_arrival) arrival = -1;
  auto const arrive = [&](int g) {
    for (int k = 0; k < at(g).edge_count; ++k) {
      Edge& edge = at(g).edges[k];
      if (!edge.passes_gradient) continue;
      int& last = edge.from < 0 ? input_arrival[-1 - edge.from] : at(edge.from).last_arrival;
      edge.finishes = true;
      edge.adds = last >= 0 || (edge.from < 0 ? input_seeded[-1 - edge.from] : at(edge.from).seeded);
      if (last >= 0) at(last / max_edges).edges[last % max_edges].finishes = false;
      last = g * max_edges + k;
    }
  };
  for (int g = 0; g < count; ++g) {
    if (at(g).loss >= 0) arrive(g);
  }
  for (int g = count - 1; g >= 0; --g) {
    if (at(g).loss < 0) arrive(g);
  }
}

/// Chooses the values that are kept in blocks: those that are computed and read only by layers that can compute images
/// in blocks. Pointwise groups between them have the layout of their operands. Everywhere else the kernel transposes.
constexpr void choose_blocks(View<Node const> nodes, View<Group> groups) {
  auto const at = [&](int g) -> Group& { return groups[static_cast<std::size_t>(g)]; };
  auto const maps = [](Group const& group) { return group.head < 0 && group.loss < 0 && group.statistic < 0; };
  auto const in_blocks = [&](Group const& group) { return group.head >= 0 && nodes[group.head].in_blocks; };
  bool any = false;
  for (Group const& group : groups) any = any || (group.needed && in_blocks(group));
  if (!any) return;
  // Groups whose values have the same layout form a set. Each links to another group of the set; the last links to
  // itself.
  auto const set_of = [&](int g) {
    while (at(g).layout != g) g = at(g).layout = at(at(g).layout).layout;
    return g;
  };
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    Group& group = at(g);
    group.layout = g;
    group.blocked = group.needed && !group.is_output && (maps(group) || in_blocks(group));
    for (int n = 0; n < group.chain_length; ++n) group.blocked = group.blocked && !nodes[group.chain[n]].positioned;
    for (int k = 0; k < group.edge_count && group.needed; ++k) {
      int const from = group.edges[k].from;
      bool const same = maps(group) || k == group.side;
      if (in_blocks(group) && !same) continue;  // its kernel transposes if necessary
      if (from < 0) {
        if (same) at(set_of(g)).blocked = false;
        continue;
      }
      int const there = set_of(from), here = set_of(g);
      bool const both = same && at(there).blocked && at(here).blocked;
      at(there).blocked = both;
      if (same) at(here).blocked = both, at(there).layout = here;
    }
  }
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) at(g).blocked = at(set_of(g)).blocked;
}

/// Whether a group's backward pass reads the value of one of its edges again.
constexpr bool reads_again(View<Node const> nodes, Group const& group, int edge) {
  if (!group.needs_gradient || group.loss >= 0) return false;
  if (group.join >= 0 && (group.head < 0 || edge == group.side)) return nodes[group.join].reads_input;
  return group.head >= 0 ? nodes[group.head].reads_input : group.chain_needs_input;
}

/// The phases of make_plan after the groups are found and traced. Each changes the groups and adds to the plan's
/// totals.
class Planner {
 public:
  constexpr Planner(View<Node const> nodes, View<int const> outputs, PlanOptions const& options, View<Group> groups,
                    View<int const> group_of, PlanSummary& plan)
      : nodes_(nodes),
        outputs_(outputs),
        groups_(groups),
        group_of_(group_of),
        options_(options),
        plan_(plan),
        schedule_{static_cast<int>(groups.size()), options.losses},
        count_(static_cast<int>(groups.size())),
        end_(schedule_.end()) {
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      if (nodes[i].kind == Node::Kind::input) network_input_[inputs_++] = i;
    }
  }

  /// Finds which inputs of the network are needed, as an output or by a group that is computed.
  constexpr void find_inputs() {
    for (int output : outputs_) {
      if (group_of_[output] < 0) plan_.reads[-1 - group_of_[output]] = true;
    }
    for (Group const& group : groups_) {
      for (int k = 0; k < group.edge_count && group.needed; ++k) {
        if (group.edges[k].from < 0) plan_.reads[-1 - group.edges[k].from] = true;
      }
    }
  }

  /// Makes the buffers of each group, alive during the steps at which the group itself needs them.
  constexpr void make_buffers() {
    for (int g = 0; g < count_; ++g) {
      Group& group = groups_[g];
      if (!group.needed) continue;
      make_addends(group, g);
      if (group.output < 0) continue;  // a separate loss and a statistic have no value
      if (group.head >= 0) make_memory(group, g);
      make_values(group, g);
    }
  }

  /// Extends lifetimes to the readers: what a group reads lives until then, and what the derivative of a chain needs
  /// lives until the gradient is passed back.
  constexpr void extend_to_readers() {
    for (int g = 0; g < count_; ++g) {
      Group const& reader = groups_[g];
      if (!reader.needed) continue;
      for (int k = 0; k < reader.edge_count; ++k) {
        Edge const& edge = reader.edges[k];
        if (edge.from < 0) continue;
        Group& group = groups_[edge.from];
        extend(group.value, reads_again(nodes_, reader, k) ? backward(g) : forward(g));
        if (!edge.passes_gradient) continue;
        int const arrives = schedule_.backward(reader, g);
        group.gradient.first = freestanding::min(group.gradient.first, arrives);
        int const derivative = options_.keep_gradients ? end_ : arrives;
        if (group.kept.used()) extend(group.kept, derivative);
        if (group.chain_length > 0) extend(group.value, derivative);
      }
    }
  }

  /// A head that is one pass with its loss is computed with the loss, so its inputs live until the losses.
  constexpr void extend_to_losses() {
    if (!options_.losses) return;
    for (Group const& group : groups_) {
      if (group.loss < 0 || group.head < 0) continue;
      for (int k = 0; k < group.edge_count; ++k) {
        if (group.edges[k].from >= 0) extend(groups_[group.edges[k].from].value, count_);
      }
    }
  }

  /// Lets a group overwrite its input if nothing reads that afterwards. This goes from the last group to the first, so
  /// that a series of such groups lives as long as its last value. A value that overwrites another has no first step.
  constexpr void share_values() {
    for (int g = count_ - 1; g > 0; --g) {
      if (!writes_over_input(groups_[g], g)) continue;
      groups_[groups_[g].edges[0].from].value.last = groups_[g].value.last;
      groups_[g].value.first = -1;
    }
  }

  /// Lets the gradient of a sum, or of a chain alone, be that of an operand, too, if it is the first to arrive there
  /// and nothing is applied to it. It is then not copied, and others are added to it, when the group itself is done
  /// with it. This goes from the first group to the last, so that the buffer of a series lives as long as its last
  /// gradient.
  constexpr void share_gradients() {
    if (options_.keep_gradients) return;
    for (int g = 0; g < count_; ++g) {
      Group& group = groups_[g];
      for (int k = 0; k < group.edge_count; ++k) {
        if (!can_share(group, k)) continue;
        Group& from = groups_[group.edges[k].from];
        group.edges[k].shares = true;
        extend(group.gradient, from.gradient.last);
        from.gradient_of = g;
        break;
      }
    }
  }

  /// Assigns the offsets of all buffers: forward values in the order of the groups, then gradients in reverse order.
  constexpr void place_buffers() {
    Arena arena{groups_};
    int earliest = end_;
    auto const starts = [&](Buffer const& gradient) {
      if (gradient.used()) earliest = freestanding::min(earliest, gradient.first);
    };
    for (int g = 0; g < count_; ++g) {
      Group& group = groups_[g];
      plan_.sum += group.value.size + group.kept.size + group.gradient.size + group.memory.size;
      if (group.gradient_of < 0) starts(group.gradient);
      for (int k = 0; k < group.edge_count; ++k) starts(group.edges[k].addend), plan_.sum += group.edges[k].addend.size;
      group.earliest = earliest;
      arena.all_start_at(g);
      if (group.value.used() && group.value.first < 0) {
        group.value.offset = groups_[group.edges[0].from].value.offset;
      } else {
        arena.place(g, Arena::value);
      }
      arena.place(g, Arena::kept);
      arena.place(g, Arena::memory);
    }
    for (int g = count_ - 1; g >= 0; --g) {
      arena.all_start_at(groups_[g].earliest);
      if (int const other = groups_[g].gradient_of; other >= 0) {
        groups_[g].gradient.offset = groups_[other].gradient.offset;
      } else {
        arena.place(g, Arena::gradient);
      }
      for (int k = 0; k < groups_[g].edge_count; ++k) arena.place(g, Arena::addend + k);
    }
    plan_.workspace = arena.size(), plan_.visited = arena.visited();
  }

  /// Appends the gradients of the network's inputs at the end, in rows without padding, as the user sees them.
  constexpr void append_input_gradients() {
    if (!options_.training || !options_.input_gradient) return;
    for (int input = 0; input < freestanding::min(inputs_, max_network_inputs); ++input) {
      bool const reached = reaches_input(input);
      plan_.reaches_all = plan_.reaches_all && reached;
      if (!reached) continue;
      Index const pitch = nodes_[network_input_[input]].shape.size();
      plan_.input_gradients[input] = {
          .offset = plan_.workspace, .pitch = pitch, .size = padded_size(pitch), .first = count_, .last = end_};
      plan_.workspace += padded_size(pitch);
      plan_.sum += padded_size(pitch);
    }
  }

 private:
  constexpr Index padded(int node) const { return options_.pitch(nodes_[node].shape.size()); }
  static constexpr Index padded_size(Index n) { return (n + 15) / 16 * 16; }
  static constexpr void extend(Buffer& buffer, int last) { buffer.last = freestanding::max(buffer.last, last); }
  /// The step at which group g is computed, and the step after which its gradient no longer needs anything.
  constexpr int forward(int g) const { return schedule_.forward(groups_[g], g); }
  constexpr int backward(int g) const { return options_.keep_gradients ? end_ : schedule_.backward(groups_[g], g); }

  /// Whether the gradient of a group's edge can be added to others where it is computed: it is that of a join or of a
  /// chain, or its layer can add.
  constexpr bool can_add(Group const& group, int edge) const {
    if (!options_.adds_in_place || group.loss >= 0) return false;
    return group.head < 0 || edge == group.side || nodes_[group.head].adds;
  }
  /// Whether the gradient of a group's edge is the group's own, and can share its buffer.
  constexpr bool can_share(Group const& group, int k) const {
    Edge const& edge = group.edges[k];
    if (!edge.passes_gradient || edge.adds || edge.from < 0 || !group.gradient.used()) return false;
    for (int other = 0; other < group.edge_count; ++other) {
      Edge const& second = group.edges[other];
      if (other != k && second.passes_gradient && second.from == edge.from) return false;
    }
    if (group.join >= 0) {
      Node const& join = nodes_[group.join];
      bool const first = group.head < 0 && k == 0, passed = group.head < 0 || k == group.side;
      if (!passed || !join.passes_on || !(first || join.commutes)) return false;
    } else if (group.head >= 0) {
      return false;
    }
    Group const& from = groups_[edge.from];
    return !(edge.finishes && from.chain_length > 0) && from.blocked == group.blocked &&
           from.gradient.pitch == group.gradient.pitch && from.gradient.size == group.gradient.size;
  }
  /// Makes the buffers of gradients that will be added to others, and of a loss's gradient that nothing needs.
  constexpr void make_addends(Group& group, int g) const {
    for (int k = 0; k < group.edge_count; ++k) {
      Edge& edge = group.edges[k];
      bool const unwanted = group.loss >= 0 && k == 0 && !edge.passes_gradient;
      if (!unwanted && (!edge.adds || can_add(group, k))) continue;
      Index const size = padded(edge.from < 0 ? network_input_[-1 - edge.from] : groups_[edge.from].output);
      int const when = schedule_.backward(group, g);
      edge.addend = {.pitch = size, .size = size, .first = when, .last = when};
    }
  }
  /// Makes the memory that the group's layer keeps from forward to backward, and its state from call to call.
  constexpr void make_memory(Group& group, int g) {
    Node const& head = nodes_[group.head];
    Index const memory = padded_size(head.memory + (group.pooling >= 0 ? nodes_[group.pooling].memory : 0));
    group.memory = {
        .pitch = memory, .size = memory, .first = g, .last = group.needs_gradient ? backward(g) : forward(g)};
    group.state = plan_.state;
    plan_.state += padded_size(head.state);
    plan_.streams = plan_.streams && head.streams;
  }
  /// Makes the group's value, the chain's input if its derivative needs that, and the gradient. The gradient lives from
  /// the first arrival until the group has passed it on.
  constexpr void make_values(Group& group, int g) const {
    Index const size = padded(group.output);
    Index const pitch = group.is_output ? nodes_[group.output].shape.size() : size;  // outputs have no padding
    group.value = {.pitch = pitch, .size = padded_size(pitch), .first = g, .last = group.is_output ? end_ : forward(g)};
    if (!group.needs_gradient) return;
    int const seed = !group.seeded ? -1 : options_.keep_gradients ? end_ : count_;
    if ((group.head >= 0 || group.join >= 0) && group.chain_needs_input)
      group.kept = {.pitch = size, .size = size, .first = g, .last = seed};
    if (group.loss < 0)
      group.gradient = {.pitch = size, .size = size, .first = group.seeded ? count_ : end_, .last = backward(g)};
    if (group.chain_length > 0) extend(group.value, seed);
    if (group.head >= 0 && nodes_[group.head].reads_output) extend(group.value, backward(g));
  }
  constexpr bool writes_over_input(Group const& group, int g) const {
    if (group.edge_count == 0 || group.edges[0].from < 0 || group.output < 0 || !group.needed) return false;
    bool const may = group.head < 0 || (nodes_[group.head].in_place && group.chain_length == 0 && group.join < 0);
    Group const& from = groups_[group.edges[0].from];
    bool const derivative_after = options_.training && group.loss >= 0 && from.chain_length > 0;  // it reads the value
    bool const alone = group.loss < 0 || from.readers <= 1;  // all losses read at the same step
    return may && !derivative_after && alone && from.value.last == forward(g) && from.value.pitch == group.value.pitch;
  }
  constexpr bool reaches_input(int input) const {
    for (Group const& group : groups_) {
      for (int k = 0; k < group.edge_count; ++k) {
        if (group.edges[k].from == -1 - input && group.edges[k].passes_gradient) return true;
      }
    }
    for (int output : outputs_) {
      if (!options_.losses && group_of_[output] == -1 - input) return true;
    }
    return false;
  }

  View<Node const> nodes_;
  View<int const> outputs_;
  View<Group> groups_;
  View<int const> group_of_;
  PlanOptions const& options_;
  PlanSummary& plan_;
  Schedule schedule_;
  int count_, end_;
  int network_input_[max_network_inputs + 1] = {}, inputs_ = 0;  // the nodes of the network's inputs
};

}  // namespace detail

/// Plans a network. `outputs` are the nodes that are its results. Writes the groups and, for every node, the group that
/// computes its value (-1 - k for input k). Both views must be as long as `nodes`, and the groups must be
/// default-initialised.
constexpr PlanSummary make_plan(View<Node const> nodes, View<int const> outputs, PlanOptions options, View<Group> groups,
                             View<int> group_of) {
  PlanSummary plan{
      .groups = detail::Grouping{nodes, outputs, options.training, options.losses, options.blocks > 0, groups, group_of}
                    .run()};
  groups = {groups.data(), static_cast<std::size_t>(plan.groups)};
  detail::trace(nodes, outputs, options, groups, group_of);
  if (options.blocks > 0) detail::choose_blocks(nodes, groups);
  detail::Planner planner{nodes, outputs, options, groups, group_of, plan};
  planner.find_inputs();
  planner.make_buffers();
  planner.extend_to_readers();
  planner.extend_to_losses();
  planner.share_values();
  planner.share_gradients();
  planner.place_buffers();
  planner.append_input_gradients();
  return plan;
}

}  // namespace coldpress
