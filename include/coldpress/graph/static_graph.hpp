// A network type as nodes, names and parameters: everything about it that the compiler knows.
#pragma once

#include <coldpress/graph/sequential.hpp>

namespace coldpress {

/// The nodes of Net for samples of shapes `in`. The inputs come first; node i after them is layer<i>.
template <class Net, Inputs in>
struct StaticGraph {
  using Types = typename detail::LayersOf<Net>::type;
  struct Counted {
    decltype(detail::Counter<Types>::counts) counts;
    detail::Operand first, second;
  };
  static constexpr Counted counted = [] {
    detail::Counter<Types> counter{};
    detail::record<Net, in.count>(counter, in);
    return Counted{counter.counts, counter.operand(0), counter.operand(1)};
  }();
  static_assert(sizeof(detail::Joined<counted.first, counted.second>) > 0);
  static constexpr auto counts = counted.counts;
  static constexpr auto recorded = [] {
    detail::Recording<Types, counts> recording{};
    detail::record<Net, in.count>(recording, in);
    recording.finish();
    return recording;
  }();

  static constexpr int sums = counts.sums;  // of losses and statistics
  static constexpr int size = counts.nodes, inputs = in.count, parameter_count = counts.parameters;
  static constexpr int targets = -1;  // no node: a loss from outside brings them
  static constexpr auto const& nodes = recorded.nodes;
  static constexpr auto const& names = recorded.names;
  static constexpr auto const& outputs = recorded.outputs;
  template <int i>
  static constexpr auto layer = detail::stored<recorded.kind[i]>(recorded).list[recorded.slot[i]];

  /// The shapes of what node i reads.
  template <int i>
  static constexpr auto input_shapes = [] {
    std::array<Shape, static_cast<std::size_t>(nodes[i].input_count())> shapes{};
    for (std::size_t k = 0; k < shapes.size(); ++k) shapes[k] = recorded.shape(nodes[i].inputs[k]);
    return shapes;
  }();

  /// Parameters of all layers in order; the node of each, the first parameter that it is the same as, and the first
  /// one of each node.
  struct Parameters {
    static constexpr auto const& list = recorded.parameters;
    static constexpr auto const& node = recorded.parameter_node;
    static constexpr auto const& owner = recorded.owner;
    static constexpr auto const& first = recorded.first_parameter;
    static constexpr int owners = recorded.owners;
  };
  static constexpr Parameters parameters{};

  /// What users see: every parameter once.
  static constexpr auto weights = [] {
    std::array<int, static_cast<std::size_t>(parameters.owners)> all{};
    std::size_t n = 0;
    for (int i = 0; i < parameter_count; ++i) {
      if (parameters.owner[static_cast<std::size_t>(i)] == i) all[n++] = i;
    }
    return all;
  }();
  static constexpr bool shares = parameters.owners < parameter_count;
  static constexpr bool has_losses = [] {
    for (Node const& node : nodes) {
      if (node.kind == Node::Kind::loss) return true;
    }
    return false;
  }();
};

}  // namespace coldpress
