// A network as a list of its nodes: the text that a config is compiled from (kernels/cuda/fused).
#pragma once

#include <coldpress/graph/graph_builder.hpp>

namespace coldpress {

/// A node: its layer, its inputs, its name and its settings in the network.
template <class L, std::size_t n>
struct JitNode {
  L layer;
  std::array<int, n> inputs;
  std::string_view name;
  unsigned closed;  // this and sums are those of Node
  int sums;
};
/// An input of the network, or the targets of its objective.
template <>
struct JitNode<Shape, 0> {
  Shape shape;
};
/// The network's settings for a parameter.
struct JitParameter {
  int owner;
  float lr_mult, decay_mult;
  Regularizer regularizer;
  MaxNorm max_norm;
};

/// The StaticGraph of a list. `List` has `size`, the number of nodes, of which the first `inputs` are inputs;
/// node(std::integral_constant<int, i>); `targets`, the node of the targets or -1; `outputs`; and `parameters`, those
/// of all layers in order.
template <class List>
struct JitGraph {
  static constexpr int size = List::size, inputs = List::inputs, targets = List::targets;
  static constexpr auto outputs = List::outputs;
  static constexpr int parameter_count = static_cast<int>(List::parameters.size());
  template <int i>
  static constexpr auto jit_node = List::node(std::integral_constant<int, i>{});
  template <int i>
  static constexpr bool is_input = requires {
    jit_node<i>.shape;
  };

  using Recorded = detail::FixedParts<std::string_view, size, parameter_count, static_cast<int>(outputs.size())>;
  static constexpr Recorded recorded = [] {
    Recorded all{};
    detail::GraphBuilder<Recorded> builder{all};
    auto const add = [&](auto i) {
      if constexpr (is_input<i>) {
        builder.add_input(jit_node<i>.shape);
      } else {
        builder.add(jit_node<i>.layer, {jit_node<i>.inputs.data(), jit_node<i>.inputs.size()});
        all.names[i] = jit_node<i>.name;
        all.nodes[i].closed = jit_node<i>.closed, all.nodes[i].sums = jit_node<i>.sums;
      }
    };
    [&]<int... i>(std::integer_sequence<int, i...>) { (add(std::integral_constant<int, i>{}), ...); }
    (std::make_integer_sequence<int, size>{});
    for (std::size_t i = 0; i < all.parameters.size(); ++i) {
      JitParameter const& said = List::parameters[i];
      all.owner[i] = said.owner;
      all.parameters[i].lr_mult = said.lr_mult, all.parameters[i].decay_mult = said.decay_mult;
      all.parameters[i].regularizer = said.regularizer, all.parameters[i].max_norm = said.max_norm;
    }
    return all;
  }();
  static constexpr auto const& nodes = recorded.nodes.items;
  static constexpr auto const& names = recorded.names.items;
  template <int i>
  static constexpr auto layer = jit_node<i>.layer;
  template <int i>
  static constexpr auto input_shapes = input_shapes_of<jit_node<i>.inputs.size()>(nodes, i);
  struct Parameters {
    static constexpr auto const& list = recorded.parameters.items;
    static constexpr auto const& node = recorded.parameter_node.items;
    static constexpr auto const& owner = recorded.owner.items;
    static constexpr auto const& first = recorded.first_parameter.items;
  };
  static constexpr Parameters parameters{};
};

}  // namespace coldpress
