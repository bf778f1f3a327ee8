// The program of a network type: plan, layers and chains as constants.
#pragma once

#include <coldpress/graph/plan.hpp>
#include <coldpress/graph/slots.hpp>
#include <coldpress/graph/static_graph.hpp>

#include <algorithm>

namespace coldpress {

/// Stands for "no loss" in a program that only infers, or whose output gradient comes from the user.
struct NoLoss {};

template <class Graph, class Backend, bool training, bool input_gradient = false, auto loss_value = NoLoss{}>
struct StaticProgram {
  static constexpr bool has_loss = Loss<decltype(loss_value)>;
  static constexpr int size = Graph::size + (has_loss ? 1 : 0);

  struct Planned {
    std::array<Node, size> nodes{};
    std::array<Group, size> groups{};
    std::array<int, size> group_of{};
    PlanSize plan{};
  };
  static constexpr Planned planned = [] {
    Planned p{};
    for (int i = 0; i < Graph::size; ++i) p.nodes[i] = Graph::nodes[i];
    if constexpr (has_loss)
      p.nodes[Graph::size] = node_of(loss_value, Graph::size - 1, Graph::nodes[Graph::size - 1].shape);
    p.plan = make_plan(p.nodes, Graph::outputs,
                       {.training = training, .input_gradient = input_gradient, .pitch = Backend::pitch}, p.groups,
                       p.group_of);
    return p;
  }();
  /// Where each parameter starts in the flat buffer, and the buffer's size; scratch for the largest layer.
  struct Memory {
    std::array<Slot, Graph::parameter_count> slots{};
    Index parameters = 0;
    Index scratch = 0;
  };
  template <int node>
  static constexpr Index scratch() {
    bool const passes = planned.groups[planned.group_of[node] < 0 ? 0 : planned.group_of[node]].passes_gradient;
    return scratch_of<Backend>(Graph::template layer<node>, input_shape<node>(), {training, passes});
  }
  static constexpr Memory memory = [] {
    Memory m{};
    m.parameters = lay_out<Backend>(Graph::parameters.list, Graph::parameters.node, Graph::parameters.owner,
                                    planned.groups, planned.group_of, m.slots);
    [&]<int... i>(std::integer_sequence<int, i...>) { ((m.scratch = std::max(m.scratch, scratch<i + 1>())), ...); }
    (std::make_integer_sequence<int, Graph::size - 1>{});
    return m;
  }();
  template <int node>
  static constexpr Shape input_shape() {
    return planned.nodes[planned.nodes[node].inputs[0]].shape;
  }
  static constexpr int parameter_count() { return Graph::parameter_count; }
  static constexpr Index parameter_size = memory.parameters;

  template <int g>
  using Number = std::integral_constant<int, g>;

  static constexpr PlanSize const& plan() { return planned.plan; }
  static constexpr Group const& group(int g) { return g < 0 ? nothing : planned.groups[static_cast<std::size_t>(g)]; }

  template <class F>
  static void for_each_group(F f) {
    [&]<int... g>(std::integer_sequence<int, g...>) { (f(Number<g>{}), ...); }
    (std::make_integer_sequence<int, planned.plan.groups>{});
  }
  template <class F>
  static void for_each_group_reversed(F f) {
    [&]<int... g>(std::integer_sequence<int, g...>) { (f(Number<planned.plan.groups - 1 - g>{}), ...); }
    (std::make_integer_sequence<int, planned.plan.groups>{});
  }
  template <int g>
  static constexpr auto input(Number<g>) {
    return Number<group(g).input>{};
  }
  static constexpr auto output() { return Number<planned.group_of[Graph::outputs[0]]>{}; }
  static constexpr int inputs_capacity = 1;
  template <int g>
  static constexpr auto columns(Number<g>) {
    if constexpr (g < 0) {
      return Fixed<Graph::nodes[-1 - g].shape.size()>{};
    } else if constexpr (planned.groups[g].output < 0) {
      return Fixed<1>{};
    } else {
      return Fixed<planned.nodes[planned.groups[g].output].shape.size()>{};
    }
  }
  /// The parameters of a group's layer, and those of the whole network.
  template <int g>
  static constexpr Slots slots(Number<g>) {
    int const first = Graph::parameters.first[planned.groups[g].head];
    return {memory.slots.data() + first, Graph::parameters.list.data() + first};
  }
  static constexpr Slots slots() { return {memory.slots.data(), Graph::parameters.list.data()}; }
  /// Whether group g hands a gradient to its input.
  template <int g>
  static constexpr auto passes_gradient(Number<g>) {
    return std::bool_constant<group(g).passes_gradient>{};
  }
  /// some(layer) with the layer at the head of the group, none() without one.
  template <int g, class Some, class None>
  static void head(Number<g>, Some some, None none) {
    if constexpr (planned.groups[g].head >= 0) {
      some(Graph::template layer<planned.groups[g].head>);
    } else {
      none();
    }
  }
  template <int g>
  static auto chain(Number<g>, std::uint64_t seed) {
    if constexpr (g < 0) {
      return Chain<>{};
    } else {
      return [&]<int... n>(std::integer_sequence<int, n...>) {
        return chain_of(Graph::template layer<planned.groups[g].chain[n]>.op(key<planned.groups[g].chain[n]>(seed))...);
      }
      (std::make_integer_sequence<int, planned.groups[g].chain_length>{});
    }
  }
  /// The shape of a sample that goes into the head of the group, and the key of its random numbers.
  template <int g>
  static constexpr Shape head_input(Number<g>) {
    if constexpr (planned.groups[g].head >= 0) {
      return input_shape<planned.groups[g].head>();
    } else {
      return {};
    }
  }
  template <int g>
  static std::uint64_t head_key(Number<g>, std::uint64_t seed) {
    if constexpr (planned.groups[g].head >= 0) {
      return key<planned.groups[g].head>(seed);
    } else {
      return 0;
    }
  }
  template <class F>
  static void loss(F f) {
    if constexpr (has_loss) f(loss_value);
  }

 private:
  static constexpr Group nothing{};
  template <int node>
  static std::uint64_t key(std::uint64_t seed) {
    return layer_key(Graph::template layer<node>, seed, Graph::names[node]);
  }
};

}  // namespace coldpress
