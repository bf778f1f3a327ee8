// Finds groups of a plan that are equal in all but their places, so that one piece of code can compute them all.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/graph/group.hpp>

namespace coldpress::detail {

/// Groups of as many values per sample are worth it: a call, and places that are read, take no time beside what they
/// compute.
inline constexpr Index large_group = 512;

/// The place of a group with at most `edges` edges: everything in which groups that are alike differ.
template <int edges>
struct Place {
  Index value = 0, kept = 0, gradient = 0, memory = 0, state = 0;  // the offsets of its buffers
  int first_parameter = 0;                                         // of its head
  int from[edges > 0 ? edges : 1] = {};
  Index addends[edges > 0 ? edges : 1] = {};  // the offsets of the edges' buffers

  static constexpr Place of(Group const& group, int first_parameter) {
    Place place{group.value.offset,  group.kept.offset, group.gradient.offset,
                group.memory.offset, group.state,       first_parameter};
    for (int k = 0; k < edges; ++k)
      place.from[k] = group.edges[k].from, place.addends[k] = group.edges[k].addend.offset;
    return place;
  }
  /// The group that is here and is like `group`.
  __attribute__((always_inline)) constexpr Group here(Group group) const {
    group.value.offset = value, group.kept.offset = kept, group.gradient.offset = gradient;
    group.memory.offset = memory, group.state = state;
    for (int k = 0; k < edges; ++k) group.edges[k].from = from[k], group.edges[k].addend.offset = addends[k];
    return group;
  }
};

/// What is left of a group without its place. Of the nodes that compute the same, `equals` has the first.
constexpr Group without_place(Group group, View<int const> equals) {
  auto const known = [&](int node) { return node < 0 ? node : equals[static_cast<std::size_t>(node)]; };
  auto const size_of = [](Buffer const& buffer) { return Buffer{.pitch = buffer.pitch, .size = buffer.size}; };
  group.value = size_of(group.value), group.kept = size_of(group.kept);
  group.gradient = size_of(group.gradient), group.memory = size_of(group.memory);
  group.head = known(group.head), group.pooling = known(group.pooling), group.join = known(group.join);
  group.output = known(group.output);
  for (int i = 0; i < group.chain_length; ++i) group.chain[i] = known(group.chain[i]);
  for (int k = 0; k < group.edge_count; ++k) {
    Edge& edge = group.edges[k];
    edge.addend = size_of(edge.addend);
    if (edge.from >= 0) edge.from = 0;  // an input of the network stays what it is
  }
  group.state = 0, group.last_arrival = group.layout = group.gradient_of = group.earliest = 0;
  return group;
}
/// What matters of a group to one that reads its value and passes the gradient to it. The derivative of a chain alone
/// may also read the chain's input.
struct ReadGroup {
  Group group = {};  // without its place
  Buffer input = {};
  bool blocked_input = false;
  bool operator==(ReadGroup const&) const = default;
};
constexpr ReadGroup read_group(Group const& group, Group const* input) {
  Group read{.head = group.head < 0 ? -1 : 0, .join = group.join < 0 ? -1 : 0, .output = group.output};
  for (int i = 0; i < group.chain_length; ++i) read.chain[i] = group.chain[i];
  read.chain_length = group.chain_length, read.chain_needs_input = group.chain_needs_input;
  read.blocked = group.blocked, read.value = group.value, read.kept = group.kept, read.gradient = group.gradient;
  if (group.head >= 0 || group.join >= 0 || !group.chain_needs_input) return {read};
  read.edges[0].from = group.edges[0].from;
  return {read, input ? input->value : Buffer{}, input && input->blocked};
}

/// A group is compared with so many others before it, and a layer with so many of its type: those of blocks that repeat
/// are among them. Comparing all would take a network of hundreds of layers too long to compile.
inline constexpr int most_compared = 32;

/// For each group the first that is like it, or -1 if no other is. They compute the same, of values that are laid out
/// and were computed in the same way. Only groups of `large` values per sample or more count, and neither losses nor
/// statistics.
template <std::size_t n>
constexpr std::array<int, n> first_alike(std::array<Group, n> const& groups, int count, View<Node const> nodes,
                                         View<int const> equals, Index large) {
  std::array<int, n> first{};
  first.fill(-1);
  std::array<Group, n> own{};
  std::array<ReadGroup, n> read{};
  auto const at = [](auto& all, int g) -> auto& { return all[static_cast<std::size_t>(g)]; };
  auto const reads_alike = [&](Group const& one, Group const& other) {
    for (int k = 0; k < one.edge_count; ++k) {
      int const i = one.edges[k].from, j = other.edges[k].from;
      if (i >= 0 && !(at(read, i) == at(read, j))) return false;
    }
    return true;
  };
  int differ[most_compared] = {}, different = 0;  // the last groups that are like none before them
  for (int g = 0; g < count; ++g) {
    Group const& group = at(groups, g);
    if (group.loss >= 0 || group.statistic >= 0) continue;
    int const from = group.edge_count > 0 ? group.edges[0].from : -1;
    at(own, g) = without_place(group, equals);
    at(read, g) = read_group(at(own, g), from < 0 ? nullptr : &at(own, from));
    if (at(nodes, group.output).shape.size() < large) continue;
    for (int i = freestanding::max(0, different - most_compared); i < different && at(first, g) < 0; ++i) {
      int const other = differ[i % most_compared];
      if (at(own, other) == at(own, g) && reads_alike(at(groups, other), group))
        at(first, g) = at(first, other) = other;
    }
    if (at(first, g) < 0) differ[different++ % most_compared] = g;
  }
  return first;
}

}  // namespace coldpress::detail
