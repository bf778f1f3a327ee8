// The one builder of graphs: nodes, names, parameters and their sharing, and the checks of a graph.
#pragma once

// The compiler uses it for a network type and for the text of a config; at run time it is used for functions and
// configs.

#include <coldpress/core/type_list.hpp>
#include <coldpress/graph/name.hpp>
#include <coldpress/graph/node.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace coldpress::detail {

/// Says which parameters a layer shares, which its fields do not say.
struct Sharing {
  std::string_view key = {};  // those of the first layer with this key
  int node = -1;              // or those of this node
  int parameters = -1;        // how many of them, from the first on; -1: all
};

/// A list with room for n elements, for numbers that the compiler knows. At run time it is a std::vector.
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

/// A table of numbers by name. The compiler builds graphs with few names, so it searches them one after the other.
template <int n>
struct FixedTable {
  struct Entry {
    std::string_view name;
    int number;
    unsigned sum;  // of its characters, each times its place, which the compiler compares faster than texts
  };
  FixedList<Entry, n> entries{};

  /// Returns the number that this name already has; otherwise the name gets this number, which is returned.
  constexpr int& find_or_add(std::string_view name, int number) {
    unsigned const sum = sum_of(name);
    std::size_t const i = place(name, sum);
    if (i == entries.size()) entries.push_back({name, number, sum});
    return entries[i].number;
  }
  constexpr bool contains(std::string_view name) const { return place(name, sum_of(name)) < entries.size(); }
  constexpr std::size_t place(std::string_view name, unsigned sum) const {
    std::size_t i = 0;
    while (i < entries.size() && (entries[i].sum != sum || entries[i].name != name)) ++i;
    return i;
  }
  static constexpr unsigned sum_of(std::string_view name) {
    unsigned sum = 0, place = 0;
    for (char const c : name) sum += ++place * static_cast<unsigned char>(c);
    return sum;
  }
};

/// What GraphBuilder fills if the compiler knows the numbers of nodes, parameters and outputs. The form for numbers
/// that are known only at run time (dynamic/graph_parts.hpp) has the same members.
template <class NodeName, int node_count, int parameter_count, int output_count>
struct FixedParts {
  template <class T>
  using List = FixedList<T, node_count>;
  using Table = FixedTable<node_count>;
  using Types = TypeList<>;  // the layer types that a function may use

  List<Node> nodes{};
  List<NodeName> names{};
  FixedList<Parameter, parameter_count> parameters{};
  FixedList<int, parameter_count> parameter_node{},
      owner{};                                       // the first parameter that it shares weights with, or itself
  FixedList<int, node_count + 1> first_parameter{};  // per node, and one more at the end
  FixedList<int, output_count> outputs{};
  int sums = 0;          // the number of sums of all losses and statistics
  int weight_count = 0;  // the number of parameters, counting shared ones once

  /// Stores what else a graph keeps of a layer.
  template <class L>
  constexpr void keep(int, L const&, Sharing const&) {}
  /// This is not a constant expression, so it stops compilation, and the compiler prints the sentence.
  [[noreturn]] static void refuse(char const* sentence, int) { coldpress::refuse(sentence); }
  [[noreturn]] static void refuse_join(int, int) {
    coldpress::refuse("an element-wise operation: its two inputs have different shapes");
  }
};

/// Adds inputs, layers and outputs to a graph, in any order in which a layer comes after its inputs. `Graph` says where
/// they are stored and how errors are reported: by the compiler or by an exception.
template <class Graph>
class GraphBuilder {
 public:
  using Types = typename Graph::Types;

  constexpr explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  constexpr Shape const& shape(int node) const { return at(graph_.nodes, node).shape; }
  /// The number of values per sample of a node's first input.
  constexpr Index input_size(int node) const {
    int const from = at(graph_.nodes, node).inputs[0];
    return from < 0 ? 0 : shape(from).size();
  }

  constexpr int add_input(Shape const& in) { return push({.shape = in}, {}); }

  /// Adds a layer with all its parameters.
  template <class L>
  constexpr int add(L const& layer, View<int const> inputs, Sharing const& sharing = {}) {
    require(inputs.size() <= max_inputs, "layer: it takes at most 8 inputs; to join more, nest several");
    Shape in[max_inputs] = {};
    for (std::size_t k = 0; k < inputs.size(); ++k) in[k] = shape(inputs[k]);
    Shapes const shapes{in, inputs.size()};
    int const node = add_node(layer, inputs, shapes);
    graph_.keep(node, layer, sharing);
    if constexpr (Layer<L>) add_parameters(node, parameters_of(layer, shapes), sharing);
    return node;
  }
  /// Adds a layer, a loss or a statistic without its parameters, which the caller adds next. `in` are the shapes of its
  /// inputs.
  template <class L>
  constexpr int add_node(L const& layer, View<int const> inputs, Shapes in) {
    if constexpr (JoinLayer<L>) {
      if (in.size() == 2 && in[0] != in[1]) graph_.refuse_join(inputs[0], inputs[1]);
    }
    Node node = node_of(layer, inputs, in);
    if constexpr (!Layer<L>) node.sums = std::exchange(graph_.sums, graph_.sums + sums_of<L>());
    int const number = push(node, L::name);
    at(about_, number).reads_labels = !Layer<L> && Labelled<L>;
    return number;
  }
  /// Adds a parameter of the last node. `same` is the number of the parameter that it shares weights with, or its own.
  constexpr void add_parameter(Parameter const& parameter, int same) {
    int const number = parameter_count();
    graph_.owner.push_back(same == number ? number : at(graph_.owner, same));
    graph_.parameter_node.push_back(size() - 1);
    graph_.parameters.push_back(parameter);
    graph_.weight_count += same == number;
  }
  /// Returns the number that was first given for a key of shared parameters.
  constexpr int first_under(std::string_view key, int number) { return keys_.find_or_add(key, number); }

  constexpr void name(int node, std::string_view text) {
    check(std::string_view{at(graph_.names, node)}.empty(), "name: the value already has a name", node);
    check(!text.empty(), "name: a name must have at least one character", node);
    NodeName& name = at(graph_.names, node);
    name = NodeName{text};
    check(names_.find_or_add(name, node) == node, "two layers have this name", node);
  }
  /// Names a node unless it has a name, or another node has this one.
  constexpr void suggest_name(int node, std::string_view text) {
    NodeName& name = at(graph_.names, node);
    if (!std::string_view{name}.empty()) return;
    name = NodeName{text};
    if (names_.find_or_add(name, node) != node) name = NodeName{};
  }
  constexpr void add_output(int node) {
    bool& taken = at(about_, source(node)).is_output;
    check(!taken, "two outputs are the same value, or views of one", node);
    taken = true;
    at(about_, node).used = true;
    graph_.outputs.push_back(node);
  }
  /// Finishes the graph: names each layer that has no name after its type, with the next number that no given name has,
  /// and refuses labels that are not an input and parameters that nothing depends on.
  constexpr void finish() {
    graph_.first_parameter.push_back(parameter_count());
    name_the_others();
    check_uses();
  }

 private:
  using NodeName = std::remove_cvref_t<decltype(std::declval<Graph&>().names[0])>;
  struct About {
    std::string_view type = {};  // the name of its layer's type; empty for an input
    int source = 0;              // for a view the node that it views, otherwise itself
    bool reads_labels = false;   // its second input is labels
    bool is_output = false;      // it, or a view of it, is an output
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
            "layer: a weight's lr_mult and decay_mult must be at least 0", node);
      check(parameter.max_norm.norm >= 0 && parameter.max_norm.every > 0,
            "layer: a weight's max_norm must be at least 0, and its interval at least 1", node);
      bool const own = other == node || (sharing.parameters >= 0 && k >= sharing.parameters);
      int const same = own ? parameter_count() : at(graph_.first_parameter, other) + k;
      bool const equal = own || (same < parameter_count() && at(graph_.parameter_node, same) == other &&
                                 at(graph_.parameters, same).suffix == parameter.suffix &&
                                 same_order(at(graph_.parameters, same), parameter));
      check(equal, "Shared: layers with the same key need the same parameters, in shape and order", node);
      add_parameter(parameter, equal ? same : parameter_count());
      ++k;
    }
  }
  constexpr void name_the_others() {
    typename Graph::Table numbers{};  // by type
    for (int i = 0; i < size(); ++i) {
      std::string_view const type = at(about_, i).type;
      NodeName& name = at(graph_.names, i);
      if (type.empty() || !std::string_view{name}.empty()) continue;
      int& number = numbers.find_or_add(type, 0);
      do {
        name = NodeName{type};
        name.append(Digits{++number}.view());
      } while (names_.contains(name));
    }
  }
  constexpr void check_uses() {
    for (int i = size() - 1; i >= 0; --i) {
      Node const& node = at(graph_.nodes, i);
      check(!at(about_, i).reads_labels || at(graph_.nodes, source(node.inputs[1])).kind == Node::Kind::input,
            "the labels of a loss, or of a statistic, must be an input of the network", i);
      bool const used = at(about_, i).used || node.kind == Node::Kind::loss;
      check(used || !node.parameters,
            "a layer has weights, but no output of the network and no loss depends on its output", i);
      for (int k = 0; used && k < node.input_count(); ++k) at(about_, node.inputs[k]).used = true;
    }
  }

  Graph& graph_;
  typename Graph::template List<About> about_{};  // per node
  typename Graph::Table names_{};                 // the nodes by the names that were given
  typename Graph::Table keys_{};                  // the nodes by the keys of shared parameters
};

}  // namespace coldpress::detail
