// Records a network's function, which the compiler runs twice.
#pragma once

// The first run counts. In the second, GraphBuilder records nodes, names and parameters, and Recorded keeps every
// layer.

#include <coldpress/graph/graph_builder.hpp>
#include <coldpress/graph/missing_members.hpp>

namespace coldpress::detail {

inline constexpr int max_nodes = 1024;

/// How many parts of each kind a network has. `layers` has one number per type of the list.
template <int types>
struct Counts {
  int nodes = 0, parameters = 0, inputs = 0, outputs = 0;
  int layers[types > 0 ? types : 1] = {};
};

/// The first run, which computes shapes and counts parts.
template <class List>
struct Counter {
  using Types = List;
  static constexpr bool accepts_any_type = true;  // and refuses it in add
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
    if constexpr (missing_in<L>() != nullptr || index_of<L>(List{}) < 0) {
      refuse("graph: this is not a layer that the network may use");
    } else {
      require(counts.nodes < max_nodes, "graph: there are more than 1024 layers");
      Shape in[max_inputs] = {};
      require(inputs.size() <= max_inputs, "layer: it takes at most 8 inputs; to join more, nest several");
      for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = shapes[inputs[k]];
      input_sizes[counts.nodes] = in[0].size();
      shapes[counts.nodes] = node_of(layer, inputs, {in, inputs.size()}).shape;
      if constexpr (Layer<L>) {
        counts.parameters += static_cast<int>(parameters_of(layer, Shapes{in, inputs.size()}).size());
      }
      ++counts.layers[index_of<L>(List{})];
    }
    return counts.nodes++;
  }
  constexpr void add_output(int) { ++counts.outputs; }
  constexpr void name(int, std::string_view text) { require(text.size() <= Name::most, "name: it is too long"); }
  constexpr void suggest_name(int, std::string_view) {}
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
                  Stores<std::make_integer_sequence<int, size_of(List{})>, typename List::Plain, counts> {
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
  /// What is wrong with the graph, and with which node; null: nothing is. The first problem is kept.
  char const* problem = nullptr;
  int problem_node = -1;
  constexpr void refuse(char const* sentence, int node) {
    if (problem == nullptr) problem = sentence, problem_node = node;
  }
};

}  // namespace coldpress::detail
