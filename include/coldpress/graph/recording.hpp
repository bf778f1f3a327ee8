// What a network's function leaves when the compiler runs it: nodes, names, parameters, and every layer as it was
// given. It runs twice, first to count, then to write down.
#pragma once

#include <coldpress/core/type_list.hpp>
#include <coldpress/graph/name.hpp>
#include <coldpress/graph/node.hpp>

#include <array>
#include <utility>

namespace coldpress::detail {

inline constexpr int max_nodes = 1024;

/// How many of what a network has; `layers`: of each type of the list.
template <int types>
struct Counts {
  int nodes = 0, parameters = 0, inputs = 0, outputs = 0, sums = 0;
  int layers[types > 0 ? types : 1] = {};
};

/// What is said of a layer beside its fields: whose parameters it has.
struct Sharing {
  std::string_view key = {};  // those of the first layer with this key,
  int node = -1;              // or of that node;
  int parameters = -1;        // all, or the first ones
};

/// The place of a type in a list.
template <class L, class... Layers>
constexpr int index_in(TypeList<Layers...>) {
  int k = 0, found = -1;
  ((std::is_same_v<L, Layers> ? found = k++ : k++), ...);
  return found;
}
template <class... Layers>
constexpr int size_of(TypeList<Layers...>) {
  return sizeof...(Layers);
}

template <class... Layers>
constexpr std::string_view type_name_in(int kind, TypeList<Layers...>) {
  std::string_view const all[] = {Layers::name..., ""};
  return all[kind];
}

/// An operand of a join, for the compiler to print.
struct Operand {
  char name[Name::capacity + 1] = {};
  Shape shape = {};
};
/// Stops the compiler, which then says who does not fit whom.
template <Operand first, Operand second>
struct Joined {
  static_assert(first.shape == second.shape, "graph: an operation by element joins values of different shapes");
};

/// The first run: shapes and numbers.
template <class List>
struct Counter {
  using Types = List;
  Counts<size_of(List{})> counts = {};
  int clash[2] = {};  // the first nodes that are joined and have different shapes
  int kinds[max_nodes] = {};
  std::string_view given[max_nodes] = {};
  Shape shapes[max_nodes] = {};
  Index input_sizes[max_nodes] = {};

  constexpr Shape const& shape(int node) const { return shapes[node]; }
  /// Values of a sample of what a node reads first.
  constexpr Index input_size(int node) const { return input_sizes[node]; }
  constexpr int add_input(Shape in) {
    ++counts.inputs;
    shapes[counts.nodes] = in;
    return counts.nodes++;
  }
  template <class L>
  constexpr int add(L const& layer, View<int const> inputs, Sharing = {}) {
    require(counts.nodes < max_nodes, "graph: more than 1024 layers");
    Shape in[max_inputs] = {};
    require(inputs.size() <= max_inputs, "layer: takes at most 8 inputs; nest what joins more");
    for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = shapes[inputs[k]];
    input_sizes[counts.nodes] = in[0].size();
    counts.sums += sums_of<L>();
    kinds[counts.nodes] = index_in<L>(List{});
    if constexpr (!Layer<L>) {
      shapes[counts.nodes] = {1};
    } else if (JoinLayer<L> && inputs.size() == 2 && in[0] != in[1]) {
      if (clash[0] == clash[1]) clash[0] = inputs[0], clash[1] = inputs[1];
      shapes[counts.nodes] = in[0];
    } else {
      shapes[counts.nodes] = output_shape_of(layer, {in, inputs.size()});
      counts.parameters += static_cast<int>(parameters_of(layer, Shapes{in, inputs.size()}).size());
    }
    ++counts.layers[index_in<L>(List{})];
    return counts.nodes++;
  }
  constexpr void add_output(int) { ++counts.outputs; }
  constexpr void name(int node, std::string_view text) { given[node] = text; }

  /// Operand k of the first join that does not fit; the same twice where all do.
  constexpr Operand operand(int k) const {
    Operand operand{};
    if (clash[0] == clash[1]) return operand;
    int const node = clash[k];
    Name name{given[node]};
    if (given[node].empty() && node < counts.inputs) name = Name{"input"};
    if (given[node].empty() && node >= counts.inputs) {
      int number = 1;
      for (int i = counts.inputs; i < node; ++i) number += given[i].empty() && kinds[i] == kinds[node];
      name = Name{type_name_in(kinds[node], List{})};
      name.append(number);
    }
    for (int i = 0; i < name.length; ++i) operand.name[i] = name.text[i];
    operand.shape = shapes[node];
    return operand;
  }
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
constexpr Stored<kind, L, n>& stored(Stored<kind, L, n>& all) {
  return all;
}
template <int kind, class L, int n>
constexpr Stored<kind, L, n> const& stored(Stored<kind, L, n> const& all) {
  return all;
}

/// The second run: everything.
template <class List, auto counts>
struct Recording : Stores<std::make_integer_sequence<int, size_of(List{})>, List, counts> {
  using Types = List;
  static constexpr int size = counts.nodes, parameter_count = counts.parameters;
  std::array<Node, size> nodes = {};
  std::array<Name, size> names = {};
  std::array<int, size> kind = {}, slot = {};
  std::array<Sharing, size> sharing = {};
  std::array<bool, size> labels = {};  // reads labels
  std::array<Parameter, parameter_count> parameters = {};
  std::array<int, parameter_count> parameter_node = {},
                                   owner = {};  // owner: the first parameter that it is the same as
  std::array<int, size + 1> first_parameter = {};
  std::array<int, counts.outputs> outputs = {};
  int node_count = 0, output_count = 0, owners = 0, sum_count = 0;

  constexpr Shape const& shape(int node) const { return nodes[static_cast<std::size_t>(node)].shape; }
  constexpr Index input_size(int node) const {
    int const from = nodes[static_cast<std::size_t>(node)].inputs[0];
    return from < 0 ? 0 : shape(from).size();
  }
  constexpr int add_input(Shape in) {
    at(nodes, node_count).shape = in;
    at(kind, node_count) = -1;
    return node_count++;
  }
  template <class L>
  constexpr int add(L const& layer, View<int const> inputs, Sharing shared = {}) {
    constexpr int k = index_in<L>(List{});
    Shape in[max_inputs] = {};
    for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = shape(inputs[i]);
    Shapes const shapes{in, inputs.size()};
    int const node = node_count++;
    at(nodes, node) = node_of(layer, inputs, shapes);
    auto& store = stored<k>(*this);
    at(kind, node) = k, at(slot, node) = store.count, at(sharing, node) = shared;
    store.list[store.count++] = layer;
    if constexpr (Layer<L>) {
      add_parameters(node, parameters_of(layer, shapes));
    } else {
      at(labels, node) = Labelled<L>;
      at(nodes, node).sums = std::exchange(sum_count, sum_count + sums_of<L>());
      at(first_parameter, node) = parameter_total_;
    }
    return node;
  }
  constexpr void add_output(int node) {
    for (int k = 0; k < output_count; ++k) {
      require(source_of(nodes, at(outputs, k)) != source_of(nodes, node),
              "graph: two outputs are the same value, or views of one");
    }
    at(outputs, output_count++) = node;
  }
  constexpr void name(int node, std::string_view text) {
    require(at(names, node).length == 0, "name: the value has a name already");
    require(!text.empty(), "name: a name has at least one character");
    at(names, node) = Name{text};
  }
  /// Gives a name to whoever has none: the type's and a number. Names may not be given twice.
  constexpr void finish() {
    bool given[size > 0 ? size : 1] = {};
    int numbers[size_of(List{}) + 1] = {};
    for (int i = 0; i < size; ++i) given[i] = at(names, i).length > 0;
    for (int i = 0; i < size; ++i) {
      if (given[i] || at(kind, i) < 0) continue;
      at(names, i) = Name{type_name_in(at(kind, i), List{})};
      at(names, i).append(++numbers[at(kind, i)]);
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; given[i] && j < size; ++j)
        require(i == j || at(names, i).view() != at(names, j).view(), "graph: two layers have the same name");
    }
    at(first_parameter, size) = parameter_total_;
    check_used();
  }

 private:
  template <class Array>
  static constexpr auto& at(Array& array, int i) {
    return array[static_cast<std::size_t>(i)];
  }
  constexpr void add_parameters(int node, auto const& all) {
    at(first_parameter, node) = parameter_total_;
    Sharing const& mine = at(sharing, node);
    int const other = mine.node >= 0 ? mine.node : first_sharing(node, mine.key);
    int k = 0;
    for (Parameter const& p : all) {
      require(p.lr_mult >= 0 && p.decay_mult >= 0, "layer: lr_mult and decay_mult of a weight are at least 0");
      require(p.max_norm.norm >= 0 && p.max_norm.every > 0,
              "layer: max_norm of a weight is at least 0, and at most every update");
      int const n = parameter_total_++;
      at(parameter_node, n) = node, at(parameters, n) = p, at(owner, n) = n;
      if (other < node && (mine.parameters < 0 || k < mine.parameters)) {
        int const first = at(first_parameter, other) + k;
        require(first < n && at(parameter_node, first) == other && at(parameters, first).suffix == p.suffix &&
                    same_order(at(parameters, first), p),
                "Shared: layers of one key need the same parameters, in shape and order");
        at(owner, n) = at(owner, first);
      }
      owners += at(owner, n) == n;
      ++k;
    }
  }
  constexpr int first_sharing(int node, std::string_view key) const {
    int first = 0;
    while (first < node && (key.empty() || sharing[static_cast<std::size_t>(first)].key != key)) ++first;
    return first;
  }
  constexpr void check_used() const {
    bool used[size > 0 ? size : 1] = {};
    for (int output : outputs) used[output] = true;
    for (int i = size - 1; i >= 0; --i) {
      Node const& node = nodes[static_cast<std::size_t>(i)];
      used[i] = used[i] || node.kind == Node::Kind::loss;
      require(!labels[i] || nodes[static_cast<std::size_t>(source_of(nodes, node.inputs[1]))].kind == Node::Kind::input,
              "graph: the labels of a loss, or of a statistic, must be an input of the network");
      require(used[i] || !node.parameters,
              "graph: a layer has parameters, but no output and no loss depends on what it makes");
      for (int k = 0; k < node.input_count(); ++k) used[node.inputs[k]] = used[node.inputs[k]] || used[i];
    }
  }
  int parameter_total_ = 0;
};

}  // namespace coldpress::detail
