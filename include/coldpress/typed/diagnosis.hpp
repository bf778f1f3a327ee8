// What is wrong with a network, as one sentence that the compiler prints.
#pragma once

// The error itself is in typed/network.hpp and typed/solver.hpp, which programs include directly: each header in between
// would be another line of the message. Nothing here is instantiated for a network that is right, except compiles<>.

#include <coldpress/typed/static_graph.hpp>

namespace coldpress {

/// A text that the compiler composes and prints as part of a type's name.
struct Sentence {
  static constexpr int most = 480;
  char text[most];

  constexpr int length() const {
    int n = 0;
    while (n < most && text[n] != 0) ++n;
    return n;
  }
  constexpr Sentence& add(std::string_view more) {
    int n = length();
    for (char const c : more) {
      if (n < most - 1) text[n++] = c;
    }
    return *this;
  }
  constexpr Sentence& add(Index number) {
    if (number < 0) add("-"), number = -number;
    char digits[20] = {};
    int first = 20;
    do digits[--first] = static_cast<char>('0' + number % 10), number /= 10;
    while (number > 0);
    return add({digits + first, static_cast<std::size_t>(20 - first)});
  }
  constexpr Sentence& add(Shape const& shape) {
    add("{");
    for (int axis = 0; axis < shape.rank(); ++axis) add(axis ? ", " : "").add(shape[axis]);
    return add("}");
  }
};

/// g++ prints this name, and with it the sentence, in its error. It has no definition, which is the error.
template <Sentence sentence>
struct NetworkError;

namespace detail {

/// The name of a type as the compiler writes it.
template <class L>
constexpr std::string_view type_text() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("L = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}
/// The name of a layer's type in messages: its `name`, or that of the C++ type.
template <class L>
constexpr std::string_view kind_of() {
  if constexpr (requires { { L::name } -> std::convertible_to<std::string_view>; }) {
    return L::name;
  } else {
    return type_text<L>();
  }
}

struct Diagnosis {
  char const* sentence = nullptr;  // a literal, because clang prints nothing else; null: nothing is wrong
  int place = 0;                   // of the layer among the layers, from 1; 0: the sentence is about no layer
  std::string_view type = {};      // the layer's
  Name name = {};                  // the layer's; empty: it was not given one
  int number = 0;                  // among the unnamed layers of its type
  int inputs = 0;                  // the layer's inputs
  Shape shapes[max_inputs] = {};
  Name from[max_inputs] = {};      // the names that these were given
  int got = -1, takes = -1;        // numbers of inputs of the network
  bool by_layer = false;           // the layer's own code says why

  constexpr Sentence text() const {
    Sentence all{};
    if (place > 0) {
      all.add("layer ").add(Index{place}).add(" (");
      if (name.length > 0) {
        all.add(name);
      } else {
        all.add(type).add(Index{number});
      }
      all.add(")");
      for (int k = 0; k < inputs; ++k) {
        all.add(k == 0 ? " gets " : " and ").add(shapes[k]);
        if (from[k].length > 0) all.add(" from ").add(from[k]);
      }
      all.add(": ");
    }
    all.add(sentence);
    if (got >= 0) {
      all.add(": Network gives ").add(Index{got});
      if (takes >= 0) all.add(", and it takes ").add(Index{takes});
    }
    return all;
  }
};

/// The sentence with which a layer, a loss or a statistic refuses inputs of these shapes, or null. It is not a constant
/// expression where that could not be found out.
template <class L>
constexpr char const* refusal_of(L const& part, Shapes in) {
  char const* sentence = nullptr;
  FirstRefusal const require{&sentence};
  if constexpr (Loss<L>) {
    if (in.size() != 2) return "loss: it compares two values, the network's and the targets";
    if constexpr (requires { part.target_shape(in[0], require); }) {
      Shape const target = part.target_shape(in[0], require);
      if (sentence != nullptr) return sentence;
      if (target.size() != in[1].size()) return "loss: the targets have a different number of values";
    } else {
      if (part.target_shape(in[0]).size() != in[1].size()) return "loss: the targets have a different number of values";
    }
  } else if constexpr (Statistic<L>) {
    if constexpr (requires { part.check(in, require); }) part.check(in, require);
  } else if constexpr (OneInput<L>) {
    if (in.size() != 1) return "it takes one input, neither none nor several";
    if constexpr (requires { part.output_shape(in[0], require); }) static_cast<void>(part.output_shape(in[0], require));
  } else if constexpr (ManyInputs<L>) {
    if (in.size() > max_inputs) return "it takes at most 8 inputs; to join more, nest several";
    if constexpr (requires { part.output_shape(in, require); }) static_cast<void>(part.output_shape(in, require));
  } else {
    if (in.size() > 0) return "it takes no input: it is a source";
  }
  return sentence;
}

/// Runs a network's function and finds the first layer that refuses its inputs. After it, shapes mean nothing.
template <class List>
struct Diagnosing {
  using Types = List;
  static constexpr bool accepts_any_type = true;
  Diagnosis found = {};
  int count = 0, inputs = 0, found_node = -1;
  Shape shapes[max_nodes] = {};
  Index input_sizes[max_nodes] = {};
  std::string_view types[max_nodes] = {};
  Name names[max_nodes] = {};

  constexpr Shape const& shape(int node) const { return shapes[node]; }
  constexpr Index input_size(int node) const { return input_sizes[node]; }
  constexpr int add_input(Shape in) {
    bool right = in.rank() > 0;
    for (int axis = 0; axis < in.rank(); ++axis) right = right && in[axis] > 0;
    if (!right) found.sentence = "shape: an extent must be at least 1, and an input has at least one";
    shapes[count] = in, ++inputs;
    return count++;
  }
  template <class L>
  constexpr int add(L const& part, View<int const> from, Sharing const& = {}) {
    if (count == max_nodes) {
      if (found.sentence == nullptr) found.sentence = "graph: there are more than 1024 layers";
      return count - 1;
    }
    Shape in[max_inputs] = {};
    std::size_t const n = from.size() < max_inputs ? from.size() : max_inputs;
    for (std::size_t k = 0; k < n; ++k) in[k] = shapes[from[k]];
    types[count] = kind_of<L>(), shapes[count] = in[0];
    if (n > 0 && in[0].rank() > 0) input_sizes[count] = in[0].size();
    if (found.sentence == nullptr) look_at(part, from, {in, from.size()});
    return count++;
  }
  constexpr void add_output(int) {}
  constexpr void name(int node, std::string_view text) {
    if (text.size() > Name::most) {
      if (found.sentence == nullptr) found.sentence = "name: a layer's name may have at most 47 characters";
      return;
    }
    names[node] = Name{text};
  }
  /// What was found, with the names that only the whole function gives.
  constexpr Diagnosis result() const {
    Diagnosis all = found;
    if (found_node < 0) return all;
    all.name = names[found_node];
    all.number = 1;
    for (int i = 0; i < found_node; ++i) all.number += types[i] == all.type && names[i].length == 0;
    return all;
  }

 private:
  template <class L>
  constexpr void look_at(L const& part, View<int const> from, Shapes in) {
    char const* sentence = nullptr;
    bool by_layer = false;
    if constexpr (missing_in<L>() != nullptr) {
      sentence = missing_in<L>();
    } else if constexpr (index_of<L>(List{}) < 0) {
      sentence = "graph: the function uses a layer that is not built in: name it, as in graph<Snake>(...)";
    } else {
      if (__builtin_constant_p(refusal_of(part, in) == nullptr)) sentence = refusal_of(part, in);
      if (sentence == nullptr) {
        by_layer = !__builtin_constant_p(node_of(part, from, in).memory);
        if (!by_layer) shapes[count] = node_of(part, from, in).shape;
      }
    }
    if (sentence == nullptr && !by_layer) return;
    found = {.sentence = by_layer ? "the layer refuses this" : sentence,
             .place = count - inputs + 1,
             .type = kind_of<L>(),
             .inputs = static_cast<int>(in.size() < max_inputs ? in.size() : max_inputs),
             .by_layer = by_layer};
    for (int k = 0; k < found.inputs; ++k)
      found.shapes[k] = in[static_cast<std::size_t>(k)], found.from[k] = names[from[static_cast<std::size_t>(k)]];
    found_node = count;
  }
};

/// Whether Net can be applied to n inputs.
template <class Net, int n>
constexpr bool takes_inputs = [] {
  if constexpr (requires { Net::function; }) {
    using One = Value<Counter<typename ListOf<Net>::type>>;
    return []<std::size_t... k>(std::index_sequence<k...>) {
      return requires(One const* all) { Net::function(all[k]...); };
    }(std::make_index_sequence<n>{});
  } else {
    return n == 1;
  }
}();
/// Whether all layers accept their inputs, ...
template <class Net, Inputs in>
constexpr bool shapes_fit = [] {
  if constexpr (!takes_inputs<Net, in.count>) {
    return false;
  } else {
    return static_cast<bool>(__builtin_constant_p(counted<Net, in>().nodes));
  }
}();
/// ... and whether the graph is right as well.
template <class Net, Inputs in>
constexpr bool compiles = [] {
#if defined __CUDACC__  // nvcc does not evaluate tentatively; its errors are longer
  return true;
#else
  if constexpr (!shapes_fit<Net, in>) {
    return false;
  } else {
    return StaticGraph<Net, in>::recorded.problem == nullptr;
  }
#endif
}();

template <class Net, Inputs in>
constexpr Diagnosis examined() {
  Diagnosing<typename ListOf<Net>::type> all{};
  record<Net, in.count>(all, in);
  return all.result();
}
/// What is wrong with a network that does not compile.
template <class Net, Inputs in>
constexpr Diagnosis diagnosis_of() {
  if constexpr (!takes_inputs<Net, in.count>) {
    if constexpr (requires { Net::function; }) {
      Diagnosis all{.sentence = "network: the function takes another number of inputs", .got = in.count};
      [&]<int... n>(std::integer_sequence<int, n...>) { ((takes_inputs<Net, n + 1> ? void(all.takes = n + 1) : void()), ...); }
      (std::make_integer_sequence<int, max_network_inputs>{});
      return all;
    } else {
      return {.sentence = "network: a Sequential has one input; use a Graph for several", .got = in.count};
    }
  } else if constexpr (!shapes_fit<Net, in>) {
    Diagnosis all{};
    if (__builtin_constant_p(examined<Net, in>().place)) all = examined<Net, in>();
    if (all.sentence == nullptr) all = {.sentence = "graph: the network's function refuses these shapes", .by_layer = true};
    return all;
  } else {
    auto const& graph = StaticGraph<Net, in>::recorded;
    Diagnosis all{.sentence = graph.problem};
    if (graph.problem_node >= in.count) {
      all.place = graph.problem_node - in.count + 1;
      all.name = graph.names[static_cast<std::size_t>(graph.problem_node)];
    }
    return all;
  }
}

/// Stands in for a network that does not compile, so that the lines that use it give no further errors.
struct Placeholder {
  static constexpr std::string_view name = "placeholder";
  static constexpr Capabilities capabilities{.is_view = true};
  constexpr Shape output_shape(Shape const& in) const { return in; }
  bool operator==(Placeholder const&) const = default;
};

}  // namespace detail
}  // namespace coldpress
