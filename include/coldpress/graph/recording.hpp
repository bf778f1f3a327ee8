// Records a network's function, which the compiler runs twice.
#pragma once

// The first run counts. In the second, GraphBuilder records nodes, names and parameters, and this file every layer.

#include <coldpress/graph/graph_builder.hpp>

namespace coldpress::detail {

inline constexpr int max_nodes = 1024;

/// The numbers of a network's parts. `layers` has one number per type of the list.
template <int types>
struct Counts {
  int nodes = 0, parameters = 0, inputs = 0, outputs = 0;
  int layers[types > 0 ? types : 1] = {};
};

template <class... Layers>
constexpr int size_of(TypeList<Layers...>) {
  return sizeof...(Layers);
}

/// An operand of a join, for the compiler's error message.
struct Operand {
  char name[Name::capacity + 1] = {};
  Shape shape = {};
};
/// Stops compilation, with a message that shows which values do not fit each other.
template <Operand first, Operand second>
struct Joined {
  static_assert(first.shape == second.shape, "graph: an element-wise operation joins values of different shapes");
};

/// The first run, which computes shapes and numbers.
template <class List>
struct Counter {
  using Types = List;
  Counts<size_of(List{})> counts = {};
  Shape shapes[max_nodes] = {};
  Index input_sizes[max_nodes] = {};

  constexpr Shape const& shape(int node) const { return shapes[node]; }
  constexpr Index input_size(int node) const { return input_sizes[node]; }
  constexpr int add_input(Shape in) {
    ++counts.inputs;
    shapes[counts.nodes] = in;
    return counts.nodes++;
  }
  template <class L>
  constexpr int add(L const& layer, View<int const> inputs, Sharing const& = {}) {
    require(counts.nodes < max_nodes, "graph: there are more than 1024 layers");
    Shape in[max_inputs] = {};
    require(inputs.size() <= max_inputs, "layer: it takes at most 8 inputs; to join more, nest several");
    for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = shapes[inputs[k]];
    input_sizes[counts.nodes] = in[0].size();
    if constexpr (!Layer<L>) {
      shapes[counts.nodes] = {1};
    } else if (JoinLayer<L> && inputs.size() == 2) {
      shapes[counts.nodes] = in[0];  // the second run reports an operand that does not fit
    } else {
      shapes[counts.nodes] = output_shape_of(layer, {in, inputs.size()});
      counts.parameters += static_cast<int>(parameters_of(layer, Shapes{in, inputs.size()}).size());
    }
    ++counts.layers[index_of<L>(List{})];
    return counts.nodes++;
  }
  constexpr void add_output(int) { ++counts.outputs; }
  constexpr void name(int, std::string_view) {}
};

template <int kind, class L, int n>
struct Stored {
  L list[n > 0 ? n : 1] = {};
  int count = 0;
};
template <class Kinds, class List, auto counts>
struct Stores;
template <int... kinds, class... Layers, auto counts>
struct Stores<std::integer_sequence<int, kinds...>, TypeList<Layers...>, counts>
    : Stored<kinds, Layers, counts.layers[kinds]>... {};
template <int kind, class L, int n>
constexpr Stored<kind, L, n> const& stored(Stored<kind, L, n> const& all) {
  return all;
}

/// The result of the second run.
template <class List, auto counts>
struct Recorded : FixedParts<Name, counts.nodes, counts.parameters, counts.outputs>,
                  Stores<std::make_integer_sequence<int, size_of(List{})>, List, counts> {
  using Types = List;
  std::array<int, counts.nodes> kind = {}, slot = {};  // per layer: its type, and its index among those of that type
  std::array<Sharing, counts.nodes> sharing = {};

  template <class L>
  constexpr void keep(int node, L const& layer, Sharing const& shared) {
    constexpr int k = index_of<L>(List{});
    Stored<k, L, counts.layers[k]>& store = *this;
    auto const i = static_cast<std::size_t>(node);
    kind[i] = k, slot[i] = store.count, sharing[i] = shared;
    store.list[store.count++] = layer;
  }
  /// Operand k of the first join whose operands do not fit. If all fit, both operands are equal.
  constexpr Operand operand(int k) const {
    Operand operand{};
    if (this->clash[0] == this->clash[1]) return operand;
    auto const node = static_cast<std::size_t>(this->clash[k]);
    Name const name = this->names[node].length > 0 ? this->names[node] : Name{"input"};
    for (int i = 0; i < name.length; ++i) operand.name[i] = name.text[i];
    operand.shape = this->nodes[node].shape;
    return operand;
  }
};

}  // namespace coldpress::detail
