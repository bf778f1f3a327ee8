// How every graph is made: that of a network type by the compiler, that of a function or a config at run time, and the
// text of a config for the compiler of a GPU. Nodes, names, parameters and who shares them, and what a graph must not
// be.
#pragma once

#include <coldpress/core/type_list.hpp>
#include <coldpress/graph/name.hpp>
#include <coldpress/graph/node.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace coldpress::detail {

/// What is said of a layer beside its fields: whose parameters it has.
struct Sharing {
  std::string_view key = {};  // those of the first layer with this key,
  int node = -1;              // or of that node;
  int parameters = -1;        // all, or the first ones
};

/// A list with room for n elements, where the compiler knows how many there are: else it is a std::vector.
template <class T, int n>
struct FixedList {
  std::array<T, static_cast<std::size_t>(n)> items{};
  std::size_t count = 0;

  constexpr void push_back(T const& item) { items[count++] = item; }
  constexpr T& operator[](std::size_t i) { return items[i]; }
  constexpr T const& operator[](std::size_t i) const { return items[i]; }
  constexpr T const* data() const { return items.data(); }
  constexpr std::size_t size() const { return count; }
};

/// Numbers by name. There are few names where the compiler builds a graph, so it looks at one after the other.
template <int n>
struct FixedTable {
  struct Entry {
    std::string_view name;
    int number;
  };
  FixedList<Entry, n> entries{};

  /// The number that stands under this name already, or else this one, which then does.
  constexpr int& find_or_add(std::string_view name, int number) {
    std::size_t const i = place(name);
    if (i == entries.size()) entries.push_back({name, number});
    return entries[i].number;
  }
  constexpr bool contains(std::string_view name) const { return place(name) < entries.size(); }
  constexpr std::size_t place(std::string_view name) const {
    std::size_t i = 0;
    while (i < entries.size() && entries[i].name != name) ++i;
    return i;
  }
};

/// What GraphBuilder fills, for numbers of things that the compiler knows. A graph of a number of things that is known
/// at run time (dynamic/graph_parts.hpp) has the same members.
template <class NodeName, int node_count, int parameter_count, int output_count>
struct FixedParts {
  template <class T>
  using List = FixedList<T, node_count>;
  using Table = FixedTable<node_count>;
  using Types = TypeList<>;  // the layers that a function may use

  List<Node> nodes{};
  List<NodeName> names{};
  FixedList<Parameter, parameter_count> parameters{};
  FixedList<int, parameter_count> parameter_node{},
      owner{};                                       // owner: the first parameter that it is the same as, or itself
  FixedList<int, node_count + 1> first_parameter{};  // of each node, and one beyond
  FixedList<int, output_count> outputs{};
  int sums = 0;          // of losses and statistics
  int weight_count = 0;  // parameters, each once
  int clash[2] = {};     // the first nodes that are joined and have different shapes; twice the same: there are none

  /// What else a graph keeps of a layer.
  template <class L>
  constexpr void keep(int, L const&, Sharing const&) {}
  /// No constant expression: stops the compiler, which prints the sentence.
  [[noreturn]] static void refuse(char const* sentence, int) { coldpress::refuse(sentence); }
  constexpr void refuse_join(int first, int second) {
    if (clash[0] == clash[1]) clash[0] = first, clash[1] = second;
  }
};

/// Adds inputs, layers and outputs to a graph, in any order in which a layer comes after what it reads. `Graph` says
/// where all is kept, and how it is reported what a graph must not be: to the compiler, or by an exception.
template <class Graph>
class GraphBuilder {
 public:
  using Types = typename Graph::Types;

  constexpr explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  constexpr Shape const& shape(int node) const { return at(graph_.nodes, node).shape; }
  /// Values of a sample of what a node reads first.
  constexpr Index input_size(int node) const {
    int const from = at(graph_.nodes, node).inputs[0];
    return from < 0 ? 0 : shape(from).size();
  }

  constexpr int add_input(Shape const& in) { return push({.shape = in}, {}); }

  /// A layer with all its parameters.
  template <class L>
  constexpr int add(L const& layer, View<int const> inputs, Sharing const& sharing = {}) {
    require(inputs.size() <= max_inputs, "layer: takes at most 8 inputs; nest what joins more");
    Shape in[max_inputs] = {};
    for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = shape(inputs[k]);
    Shapes const shapes{in, inputs.size()};
    int const node = add_node(layer, inputs, shapes);
    graph_.keep(node, layer, sharing);
    if constexpr (Layer<L>) add_parameters(node, parameters_of(layer, shapes), sharing);
    return node;
  }
  /// A layer, a loss or a statistic without its parameters, which the caller adds next. `in`: the shapes of its inputs.
  template <class L>
  constexpr int add_node(L const& layer, View<int const> inputs, Shapes in) {
    if constexpr (JoinLayer<L>) {
      if (in.size() == 2 && in[0] != in[1]) {
        graph_.refuse_join(inputs[0], inputs[1]);
        Node unfit{.kind = Node::Kind::join, .shape = in[0]};
        connect(unfit, inputs);
        return push(unfit, L::name);
      }
    }
    Node node = node_of(layer, inputs, in);
    if constexpr (!Layer<L>) node.sums = std::exchange(graph_.sums, graph_.sums + sums_of<L>());
    int const number = push(node, L::name);
    at(about_, number).reads_labels = !Layer<L> && Labelled<L>;
    return number;
  }
  /// A parameter of the last node. `same`: the parameter that it is the same as; its own number where it is none.
  constexpr void add_parameter(Parameter const& parameter, int same) {
    int const number = parameter_count();
    graph_.owner.push_back(same == number ? number : at(graph_.owner, same));
    graph_.parameter_node.push_back(size() - 1);
    graph_.parameters.push_back(parameter);
    graph_.weight_count += same == number;
  }
  /// The number that was first said under a key that is for sharing.
  constexpr int first_under(std::string_view key, int number) { return keys_.find_or_add(key, number); }

  constexpr void name(int node, std::string_view text) {
    check(std::string_view{at(graph_.names, node)}.empty(), "name: the value has a name already");
    check(!text.empty(), "name: a name has at least one character");
    check(names_.find_or_add(text, node) == node, "two layers have this name");
    at(graph_.names, node) = NodeName{text};
  }
  constexpr void add_output(int node) {
    bool& taken = at(about_, source(node)).is_output;
    check(!taken, "two outputs are the same value, or views of one");
    taken = true;
    at(about_, node).used = true;
    graph_.outputs.push_back(node);
  }
  /// The end: gives a name to each layer that has none, and looks for labels that are no input and parameters that
  /// nothing needs.
  constexpr void finish() {
    graph_.first_parameter.push_back(parameter_count());
    name_the_others();
    check_uses();
  }

 private:
  using NodeName = std::remove_cvref_t<decltype(std::declval<Graph&>().names[0])>;
  struct About {
    std::string_view type = {};  // its layer's; an input has none
    int source = 0;              // itself, or where it is a view the node whose values it has
    bool reads_labels = false;   // as its second input
    bool is_output = false;      // it, or a view of it
    bool used = false;           // an output or a loss depends on it
  };
  template <class Any>
  static constexpr auto& at(Any& list, int i) {
    return list[static_cast<std::size_t>(i)];
  }
  constexpr int source(int node) const { return at(about_, node).source; }
  constexpr int size() const { return static_cast<int>(graph_.nodes.size()); }
  constexpr int parameter_count() const { return static_cast<int>(graph_.parameters.size()); }
  constexpr void check(bool holds, char const* sentence, int node = -1) const {
    if (!holds) graph_.refuse(sentence, node);
  }

  constexpr int push(Node const& node, std::string_view type) {
    int const number = size();
    about_.push_back({type, node.kind == Node::Kind::view ? source(node.inputs[0]) : number});
    graph_.nodes.push_back(node);
    graph_.names.push_back({});
    graph_.first_parameter.push_back(parameter_count());
    return number;
  }
  constexpr void add_parameters(int node, auto const& parameters, Sharing const& sharing) {
    int const other = sharing.node >= 0 ? sharing.node : sharing.key.empty() ? node : first_under(sharing.key, node);
    int k = 0;
    for (Parameter const& parameter : parameters) {
      check(parameter.lr_mult >= 0 && parameter.decay_mult >= 0,
            "layer: lr_mult and decay_mult of a weight are at least 0");
      check(parameter.max_norm.norm >= 0 && parameter.max_norm.every > 0,
            "layer: max_norm of a weight is at least 0, and at most every update");
      bool const own = other == node || (sharing.parameters >= 0 && k >= sharing.parameters);
      int const same = own ? parameter_count() : at(graph_.first_parameter, other) + k;
      check(own || (same < parameter_count() && at(graph_.parameter_node, same) == other &&
                    at(graph_.parameters, same).suffix == parameter.suffix &&
                    same_order(at(graph_.parameters, same), parameter)),
            "Shared: layers of one key need the same parameters, in shape and order");
      add_parameter(parameter, same);
      ++k;
    }
  }
  constexpr void name_the_others() {
    typename Graph::Table numbers{};  // by type
    for (int i = 0; i < size(); ++i) {
      std::string_view const type = at(about_, i).type;
      NodeName& name = at(graph_.names, i);
      if (type.empty() || !std::string_view{name}.empty()) continue;
      name = NodeName{type};
      name.append(Digits{++numbers.find_or_add(type, 0)}.view());
      check(!names_.contains(name), "two layers have this name", i);
    }
  }
  constexpr void check_uses() {
    for (int i = size() - 1; i >= 0; --i) {
      Node const& node = at(graph_.nodes, i);
      check(!at(about_, i).reads_labels || at(graph_.nodes, source(node.inputs[1])).kind == Node::Kind::input,
            "the labels of a loss, or of a statistic, must be an input of the network", i);
      bool const used = at(about_, i).used || node.kind == Node::Kind::loss;
      check(used || !node.parameters, "has weights, but no output of the network and no loss depends on what it makes",
            i);
      for (int k = 0; used && k < node.input_count(); ++k) at(about_, node.inputs[k]).used = true;
    }
  }

  Graph& graph_;
  typename Graph::template List<About> about_{};  // of each node
  typename Graph::Table names_{};                 // those given, and the nodes
  typename Graph::Table keys_{};                  // of what may be shared
};

}  // namespace coldpress::detail
