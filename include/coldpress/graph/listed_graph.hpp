// A network as a list of its nodes: the text that a config becomes for a compiler (kernels/cuda/fused).
#pragma once

#include <coldpress/graph/node.hpp>

#include <array>

namespace coldpress {

/// A node: its layer, what it reads, its name, and what the network says of it.
template <class L, std::size_t n>
struct Listed {
  L layer;
  std::array<int, n> inputs;
  std::string_view name;
  unsigned closed;  // as Node has them
  int sums;
};
/// An input of the network, or the targets of its objective.
template <>
struct Listed<Shape, 0> {
  Shape shape;
};
/// What the network says of a parameter.
struct ListedParameter {
  int owner;
  float lr_mult, decay_mult;
  Regularizer regularizer;
  MaxNorm max_norm;
};

/// What StaticGraph is to a type. List: node(std::integral_constant<int, i>), of `size` nodes the `inputs` first, and
/// the targets' node or -1; outputs; parameters, of all layers in order.
template <class List>
struct ListedGraph {
  static constexpr int size = List::size, inputs = List::inputs, targets = List::targets;
  static constexpr auto outputs = List::outputs;
  static constexpr int parameter_count = static_cast<int>(List::parameters.size());
  template <int i>
  static constexpr auto listed = List::node(std::integral_constant<int, i>{});
  template <int i>
  static constexpr bool is_input = requires {
    listed<i>.shape;
  };

  struct Recorded {
    std::array<Node, static_cast<std::size_t>(size)> nodes{};
    std::array<std::string_view, static_cast<std::size_t>(size)> names{};
    std::array<Parameter, List::parameters.size()> parameters{};
    std::array<int, List::parameters.size()> owner{};
    std::array<int, static_cast<std::size_t>(size)> first_parameter{};
    std::array<int, List::parameters.size()> node{};
    int count = 0;

    template <int i>
    constexpr void add() {
      first_parameter[i] = count;
      if constexpr (is_input<i>) {
        nodes[i].shape = listed<i>.shape;
      } else {
        constexpr auto n = listed<i>.inputs.size();
        Shape shapes[n > 0 ? n : 1] = {};
        for (std::size_t k = 0; k < n; ++k) shapes[k] = nodes[static_cast<std::size_t>(listed<i>.inputs[k])].shape;
        names[i] = listed<i>.name;
        nodes[i] = coldpress::node_of(listed<i>.layer, View<int const>{listed<i>.inputs.data(), n}, Shapes{shapes, n});
        nodes[i].closed = listed<i>.closed, nodes[i].sums = listed<i>.sums;
        if constexpr (Layer<decltype(listed<i>.layer)>) {
          for (Parameter const& parameter : parameters_of(listed<i>.layer, Shapes{shapes, n})) add(i, parameter);
        }
      }
    }
    constexpr void add(int from, Parameter const& parameter) {
      auto const number = static_cast<std::size_t>(count++);
      ListedParameter const& said = List::parameters[number];
      parameters[number] = parameter;
      parameters[number].lr_mult = said.lr_mult, parameters[number].decay_mult = said.decay_mult;
      parameters[number].regularizer = said.regularizer, parameters[number].max_norm = said.max_norm;
      owner[number] = said.owner, node[number] = from;
    }
  };
  static constexpr Recorded recorded = [] {
    Recorded all{};
    [&]<int... i>(std::integer_sequence<int, i...>) { (all.template add<i>(), ...); }
    (std::make_integer_sequence<int, size>{});
    return all;
  }();
  static constexpr auto const& nodes = recorded.nodes;
  static constexpr auto const& names = recorded.names;
  template <int i>
  static constexpr auto layer = listed<i>.layer;
  template <int i>
  static constexpr auto input_shapes = [] {
    std::array<Shape, listed<i>.inputs.size()> shapes{};
    for (std::size_t k = 0; k < shapes.size(); ++k)
      shapes[k] = nodes[static_cast<std::size_t>(listed<i>.inputs[k])].shape;
    return shapes;
  }();
  struct Parameters {
    static constexpr auto const& list = recorded.parameters;
    static constexpr auto const& node = recorded.node;
    static constexpr auto const& owner = recorded.owner;
    static constexpr auto const& first = recorded.first_parameter;
  };
  static constexpr Parameters parameters{};
};

}  // namespace coldpress
