// Finds what is wrong with a network that does not compile.
#pragma once

// The error itself is in typed/network.hpp and typed/solver.hpp, which programs include directly: each header in
// between would be another line of the message. Nothing here is instantiated for a network that is right, except
// compiles<>.

#include <coldpress/typed/sentence.hpp>
#include <coldpress/typed/static_graph.hpp>

namespace coldpress::detail {

struct Refusal {
  char const* sentence = nullptr;
  Index needed = 0;
};
/// Why a loss refuses to compare values of this shape, as far as it says so itself.
template <class L>
constexpr Refusal refusal_of_loss(L const& loss, Shape const& in) {
  Refusal refusal{};
  FirstRefusal const require{&refusal.sentence, &refusal.needed};
  if constexpr (requires { loss.target_shape(in, require); }) static_cast<void>(loss.target_shape(in, require));
  return refusal;
}
/// Why a layer, a loss or a statistic refuses inputs of these shapes, as far as it says so itself.
template <class L>
constexpr Refusal refusal_of(L const& part, Shapes in) {
  Refusal refusal{};
  FirstRefusal const require{&refusal.sentence, &refusal.needed};
  if constexpr (Loss<L>) {
    if (in.size() != 2) return {"loss: it compares two values, the network's and the targets"};
    refusal = refusal_of_loss(part, in[0]);
    if (refusal.sentence == nullptr && part.target_shape(in[0]).size() != in[1].size())
      refusal = {"loss: the targets have a different number of values", part.target_shape(in[0]).size()};
  } else if constexpr (Statistic<L>) {
    if constexpr (requires { part.check(in, require); }) part.check(in, require);
  } else if constexpr (OneInput<L>) {
    if (in.size() != 1) return {"it takes one input, neither none nor several"};
    if constexpr (requires { part.output_shape(in[0], require); }) static_cast<void>(part.output_shape(in[0], require));
  } else if constexpr (ManyInputs<L>) {
    if (in.size() > max_inputs) return {"it takes at most 8 inputs; to join more, nest several"};
    if constexpr (requires { part.output_shape(in, require); }) static_cast<void>(part.output_shape(in, require));
  } else {
    if (in.size() > 0) return {"it takes no input: it is a source"};
  }
  return refusal;
}
template <class L>
constexpr bool says_itself(L const& part, Shapes in) {
  return refusal_of(part, in).sentence != nullptr;
}

/// Asks a part of a network what it makes of inputs of these shapes. Its place and type are for the compiler to print.
template <class L>
constexpr bool ask_layer(int, char const*, L const& part, Shapes in) {
  if constexpr (OneInput<L>) {
    return part.output_shape(in[0]).rank() >= 0;
  } else if constexpr (ManyInputs<L>) {
    return part.output_shape(in).rank() >= 0;
  } else if constexpr (Source<L>) {
    return part.output_shape().rank() >= 0;
  } else if constexpr (Loss<L>) {
    return part.target_shape(in[0]).rank() >= 0;
  } else {
    part.check(in);
    return true;
  }
}
// A number, since clang tries an expression only if it leaves no object behind.
template <class L>
constexpr Index memory_there(L const& part, View<int const> from, Shapes in) {
  return node_of(part, from, in).memory;
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
  std::string_view names[max_nodes] = {};
  bool suggested[max_nodes] = {};  // whether it has a name of several parts, which nothing here keeps

  constexpr Shape const& shape(int node) const { return shapes[node]; }
  constexpr Index input_size(int node) const { return input_sizes[node]; }
  constexpr int add_input(Shape in) {
    bool right = in.rank() > 0;
    Index most = Index{1} << 40;
    for (int axis = 0; axis < in.rank() && right; ++axis) {
      right = in[axis] > 0;
      if (right) most /= in[axis];
    }
    if (!right) found.sentence = "shape: an extent must be at least 1, and an input has at least one";
    if (most == 0) found.sentence = "shape: an input has more than 2^40 values";
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
    if (found.sentence == nullptr && n > 0 && in[0].rank() > 0) input_sizes[count] = in[0].size();
    if (found.sentence == nullptr) look_at(part, from, {in, from.size()});
    return count++;
  }
  constexpr void add_output(int) {}
  constexpr void name(int node, std::string_view text) {
    if (text.size() > Name::most) {
      if (found.sentence == nullptr) found.sentence = "name: a layer's name may have at most 47 characters";
      return;
    }
    names[node] = text;
  }
  constexpr void suggest_name(int node, std::string_view) { suggested[node] = true; }
  /// What was found, with the names that only the whole function gives.
  constexpr Diagnosis result() const { return found_node < 0 ? found : about(found_node, found); }
  /// Adds what is known of a node.
  constexpr Diagnosis about(int node, Diagnosis all) const {
    all.place = node - inputs + 1, all.type = types[node], all.name = names[node], all.number = 1;
    for (int i = 0; i < node; ++i) all.number += types[i] == all.type && names[i].empty() && !suggested[i];
    return all;
  }

 private:
  template <class L>
  constexpr void look_at(L const& part, View<int const> from, Shapes in) {
    Refusal refusal{};
    bool by_layer = false;
    if constexpr (missing_in<L>() != nullptr) {
      refusal.sentence = missing_in<L>();
    } else if constexpr (index_of<L>(List{}) < 0) {
      refusal.sentence = "graph: the function uses a layer that is not built in: name it, as in graph<Snake>(...)";
    } else {
      // Tentative, because a layer may compute nonsense after it has refused.
      if (__builtin_constant_p(says_itself(part, in))) refusal = refusal_of(part, in);
      if (refusal.sentence == nullptr) {
        by_layer = !__builtin_constant_p(ask_layer(0, nullptr, part, in));
        if (!by_layer && !__builtin_constant_p(memory_there(part, from, in)))
          refusal.sentence = "a function of the layer, other than output_shape, is not a constant expression";
        else if (!by_layer)
          shapes[count] = node_of(part, from, in).shape;
      }
    }
    if (refusal.sentence == nullptr && !by_layer) return;
    found = {.sentence = by_layer ? "the layer refuses this" : refusal.sentence,
             .needed = refusal.needed,
             .kind = index_of<L>(List{}),
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
    }
    (std::make_index_sequence<n>{});
  } else {
    return n == 1;
  }
}();
template <class Net, Inputs in>
constexpr int node_count() {
  return counted<Net, in>().nodes;
}
/// Whether all layers accept their inputs, ...
template <class Net, Inputs in>
constexpr bool shapes_fit = [] {
  if constexpr (!takes_inputs<Net, in.count>) {
    return false;
  } else {
    return static_cast<bool>(__builtin_constant_p(node_count<Net, in>()));
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
/// Whether a batch size is possible.
template <class BatchSize>
constexpr bool right_batch = [] {
  if constexpr (requires { BatchSize::Count::value; }) {
    return BatchSize::Count::value > 0;
  } else {
    return true;
  }
}();
template <class Net, Inputs in>
constexpr int examined_place() {
  return examined<Net, in>().place;
}
/// What is wrong with a network that does not compile.
template <class Net, Inputs in, bool right_batch>
constexpr Diagnosis diagnosis_of() {
  if constexpr (!right_batch) {
    return {.sentence = "Batch: a batch has at least one sample"};
  } else if constexpr (!takes_inputs<Net, in.count>) {
    if constexpr (requires { Net::function; }) {
      Diagnosis all{.sentence = "network: the function takes another number of inputs", .got = in.count};
      [&]<int... n>(std::integer_sequence<int, n...>) {
        ((takes_inputs<Net, n + 1> ? void(all.takes = n + 1) : void()), ...);
      }
      (std::make_integer_sequence<int, max_network_inputs>{});
      if (all.takes < 0) all.sentence = "network: the function does not compile, or takes another number of inputs";
      return all;
    } else {
      return {.sentence = "network: a Sequential has one input; use a Graph for several", .got = in.count};
    }
  } else if constexpr (!shapes_fit<Net, in>) {
    Diagnosis all{};
    if (__builtin_constant_p(examined_place<Net, in>())) all = examined<Net, in>();
    if (all.sentence == nullptr)
      all = {.sentence = "graph: the network's function refuses these shapes", .by_layer = true};
    return all;
  } else {
    auto const& graph = StaticGraph<Net, in>::recorded;
    Diagnosis all{.sentence = graph.problem};
    if (graph.problem_node >= in.count) {
      Diagnosing<typename ListOf<Net>::type> names{};
      record<Net, in.count>(names, in);
      all = names.about(graph.problem_node, all);
    }
    return all;
  }
}

/// The layer at a node, of a type that is known.
template <class List, class L>
struct Caught {
  using Types = List;
  static constexpr bool accepts_any_type = true;
  int place, inputs = 0, count = 0;
  L layer = {};
  Shape shapes[max_nodes] = {};

  constexpr Shape const& shape(int node) const { return shapes[node]; }
  constexpr Index input_size(int) const { return 1; }
  constexpr int add_input(Shape in) {
    shapes[count] = in, ++inputs;
    return count++;
  }
  template <class Other>
  constexpr int add(Other const& other, View<int const> from, Sharing const& = {}) {
    Shape in[max_inputs] = {};
    for (std::size_t k = 0; k < from.size(); ++k) in[k] = shapes[from[k]];
    bool const before = count - inputs + 1 < place;
    if constexpr (std::is_same_v<Other, L>) {
      if (count - inputs + 1 == place) layer = other;
    }
    if constexpr (missing_in<Other>() == nullptr) {
      shapes[count] = before ? node_of(other, from, {in, from.size()}).shape : in[0];
    }
    return count++;
  }
  constexpr void add_output(int) {}
  constexpr void name(int, std::string_view) {}
  constexpr void suggest_name(int, std::string_view) {}
};
template <int n, class First, class... More>
constexpr auto type_at(TypeList<First, More...>) {
  if constexpr (n == 0) {
    return std::type_identity<First>{};
  } else {
    return type_at<n - 1>(TypeList<More...>{});
  }
}
template <class Net, Inputs in, int kind, int place>
constexpr auto caught = [] {
  using List = typename ListOf<Net>::type;
  using L = typename decltype(type_at<kind>(typename List::Plain{}))::type;
  Caught<List, L> all{.place = place};
  record<Net, in.count>(all, in);
  return all.layer;
}();
template <class Net, Inputs in>
constexpr bool runs(...) {
  return true;
}
template <class Net, Inputs in, std::size_t... k>
requires requires {
  requires takes_inputs<Net, in.count>;
  Net::function;
}
constexpr bool runs(std::index_sequence<k...>) {
  using Recorder = Counter<typename ListOf<Net>::type>;
  Recorder counter{};
  for (int i = 0; i < in.count; ++i) counter.add_input(in[i]);
  typename decltype(Net::function)::Written{}(Value<Recorder>{&counter, static_cast<int>(k)}...);
  return true;
}

#if defined __clang__
// clang prints the arguments of a call that is not a constant expression, and literals among them as text.
template <class... What>
constexpr bool layer(int, What...) {
  __builtin_trap();
  return true;
}
constexpr bool loss(char const*, Shape, char const* because, Index) {
  if (because != nullptr) __builtin_trap();
  return true;
}
constexpr bool network(char const* because) {
  if (because != nullptr) __builtin_trap();
  return true;
}
constexpr bool network_inputs(int, int, char const* because) {
  if (because != nullptr) __builtin_trap();
  return true;
}
template <int inputs>
constexpr bool print(Diagnosis const& said) {
  if constexpr (inputs < 0) {
    if (said.objective) return loss(said.type.data(), said.shapes[0], said.sentence, said.needed);
    return said.got >= 0 ? network_inputs(said.got, said.takes, said.sentence) : network(said.sentence);
  } else if constexpr (inputs == 0) {
    if (said.name.empty()) return layer(said.place, said.type.data(), said.sentence);
    return layer(said.place, said.type.data(), said.name.data(), said.sentence);
  } else if constexpr (inputs == 1) {
    if (said.name.empty()) return layer(said.place, said.type.data(), said.shapes[0], said.sentence, said.needed);
    return layer(said.place, said.type.data(), said.name.data(), said.shapes[0], said.sentence, said.needed);
  } else {
    if (said.name.empty()) return layer(said.place, said.type.data(), said.shapes[0], said.shapes[1], said.sentence);
    return layer(said.place, said.type.data(), said.name.data(), said.shapes[0], said.shapes[1], said.sentence);
  }
}
#endif

}  // namespace coldpress::detail
