// The program of a network type: its plan, layers and chains as constants.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/graph/alike.hpp>
#include <coldpress/graph/slots.hpp>
#include <coldpress/run/program.hpp>
#include <coldpress/typed/static_graph.hpp>

namespace coldpress {

/// In place of a loss: no output is compared with targets from outside. The program only infers, has the losses in the
/// network's own function, or is given the gradient of its output.
struct OwnLosses {};

template <class Graph, class Backend, PlanOptions options, auto loss_value = OwnLosses{}>
struct StaticProgram {
  using Net = Graph;
  static constexpr bool has_loss = Loss<std::remove_cvref_t<decltype(loss_value)>>;
  static constexpr int size = Graph::size + (has_loss ? 2 : 0);
  static constexpr int targets = has_loss ? Graph::size : Graph::targets;  // the node of external targets, or -1

  struct Planned {
    std::array<Node, size> nodes{};
    std::array<Group, size> groups{};
    std::array<int, size> group_of{};
    PlanSummary plan{};
  };
  /// An external loss reads the first output and the targets, which are one more input.
  static constexpr Planned planned = [] {
    Planned p{};
    for (int i = 0; i < Graph::size; ++i) p.nodes[i] = Graph::nodes[i];
    if constexpr (has_loss) {
      constexpr int from = Graph::outputs[0], target = Graph::size;
      Shape const shapes[] = {Graph::nodes[from].shape, loss_value.target_shape(Graph::nodes[from].shape)};
      int const inputs[] = {from, target};
      p.nodes[target].shape = shapes[1];
      p.nodes[target + 1] = node_of(loss_value, inputs, shapes);
      p.nodes[target + 1].closed |= 2u;
    }
    PlanOptions wanted = options;
    wanted.pitch = Backend::pitch;
    if (!keeps_blocks<Backend>) wanted.blocks = 0;
    wanted.adds_in_place = coldpress::adds_in_place<Backend>;
    p.plan = make_plan(p.nodes, Graph::outputs, wanted, p.groups, p.group_of);
    return p;
  }();
  template <int g>
  using Number = std::integral_constant<int, g>;
  template <bool b>
  using Flag = std::bool_constant<b>;
  /// A group that is like group `like` (graph/alike.hpp): types and constants are those of `like`, and its place is
  /// read when the program runs, so that what is given it is compiled once for all groups that are alike.
  template <int like>
  struct Alike : Number<like> {
    int number = like;
    constexpr operator int() const {
      if (number < 0) __builtin_unreachable();  // it is no input
      return number;
    }
  };
  static constexpr Number<0> some_group() { return {}; }
  static constexpr Number<0> some_edge() { return {}; }

  /// The windows of a group's pooling.
  template <int g>
  static constexpr PoolingGeometry windows(Number<g>) {
    constexpr int node = planned.groups[g].pooling;
    if constexpr (node >= 0) {
      return Graph::template layer<node>.geometry(Graph::template input_shapes<node>[0]);
    } else {
      return {};
    }
  }
  /// The scratch of a group's head, in values.
  template <int g>
  static constexpr Index scratch(int workers) {
    if constexpr (planned.groups[g].head >= 0) {
      constexpr int node = planned.groups[g].head;
      return scratch_of<Backend>(
          Graph::template layer<node>, Shapes{Graph::template input_shapes<node>},
          {options.training, planned.groups[g].passes_gradient(), options.blocks, workers,
           windows(Number<g>{}).planes * windows(Number<g>{}).out(), planned.groups[g].edges[0].adds_in_place()});
    } else {
      return 0;
    }
  }
  /// The offset of each parameter in the flat buffer, and the buffer's size; the scratch of the layer that needs the
  /// most, and that of each worker except the caller. All sizes are in values.
  struct Memory {
    std::array<Slot, Graph::parameter_count> slots{};
    Index parameters = 0;
    Index scratch = 0, worker_scratch = 0;
  };
  static constexpr Memory memory = [] {
    Memory m{};
    m.parameters = lay_out(Backend{}, Graph::parameters.list, Graph::parameters.node, Graph::parameters.owner,
                           planned.groups, planned.group_of, m.slots);
    auto const add = [&](Index one, Index two) {
      m.scratch = freestanding::max(m.scratch, one);
      m.worker_scratch = freestanding::max(m.worker_scratch, two - one);
    };
    [&]<int... g>(std::integer_sequence<int, g...>) { (add(scratch<g>(1), scratch<g>(2)), ...); }
    (std::make_integer_sequence<int, planned.plan.groups>{});
    return m;
  }();
  static constexpr int parameter_count() { return Graph::parameter_count; }
  static constexpr auto const& parameters = Graph::parameters.list;
  static constexpr auto const& first_parameter = Graph::parameters.first;
  static constexpr Index parameter_size = memory.parameters;
  /// The scratch at the start of a workspace. For a backend that has its own workers it includes theirs, and is rounded
  /// up so that rows stay aligned.
  static constexpr Index scratch_size = [] {
    if constexpr (requires { Backend::workers_for(memory.worker_scratch); }) {
      Index const own = memory.worker_scratch, workers = own > 0 ? Backend::workers_for(own) : 1;
      Index const chunks = options.losses ? Backend::chunks_scratch(memory.parameters + size) : 0;
      return freestanding::max(Backend::pitch(memory.scratch + (workers - 1) * own), chunks);
    } else {
      return memory.scratch;
    }
  }();
  /// Whether the blocks of a GPU may store partial gradients in scratch. The padding of these is read but never
  /// written, so the scratch must start with zeros.
  static constexpr bool starts_with_zeros = options.training && options.losses;
  /// Tells a backend that has its own workers how many they are and how much scratch each has.
  static constexpr void lend_workers(Backend& backend) {
    if constexpr (requires { backend.own_scratch; }) {
      backend.own_scratch = memory.worker_scratch;
      backend.workers = Backend::workers_for(backend.own_scratch);
    }
  }
  /// Whether any weights have a bound (MaxNorm).
  static constexpr bool bounds_weights() {
    for (Parameter const& parameter : Graph::parameters.list) {
      if (parameter.max_norm.norm > 0) return true;
    }
    return false;
  }

  static constexpr PlanSummary const& plan() { return planned.plan; }
  static constexpr Group const& group(int g) { return g < 0 ? nothing : planned.groups[static_cast<std::size_t>(g)]; }
  template <int like>
  __attribute__((always_inline)) static constexpr Group group(Alike<like> g) {
    return place(g).here(planned.groups[like]);
  }

  /// It is inlined, as is head, so that forward keeps a Run in registers.
  template <class F>
  __attribute__((always_inline)) static constexpr void for_each_group(F f) {
    [&]<int... g>(std::integer_sequence<int, g...>) __attribute__((always_inline)) { (visit(numbered<g>(), f), ...); }
    (std::make_integer_sequence<int, planned.plan.groups>{});
  }
  template <class F>
  static constexpr void for_each_group_reversed(F f) {
    [&]<int... g>(std::integer_sequence<int, g...>) { (visit(numbered<planned.plan.groups - 1 - g>(), f), ...); }
    (std::make_integer_sequence<int, planned.plan.groups>{});
  }
  template <int g, class F>
  static constexpr void for_each_edge(Number<g>, F f) {
    [&]<int... k>(std::integer_sequence<int, k...>) { (f(Number<k>{}), ...); }
    (std::make_integer_sequence<int, group(g).edge_count>{});
  }
  template <int g, int k>
  static constexpr auto input(Number<g>, Number<k>) {
    return Number<group(g).edges[k].from>{};
  }
  template <int like, int k>
  static constexpr auto input(Alike<like> g, Number<k>) {
    constexpr int from = group(like).edges[k].from;
    if constexpr (from < 0) {
      return Number<from>{};  // the same input of the network
    } else {
      return Alike<from>{{}, place(g).from[k]};
    }
  }
  template <int g>
  static constexpr auto side(Number<g>) {
    return Number<group(g).side>{};
  }
  template <int g, int k>
  static constexpr auto passes_gradient(Number<g>, Number<k>) {
    return Flag<group(g).edges[k].passes_gradient>{};
  }
  template <int g, int k>
  static constexpr auto adds_in_place(Number<g>, Number<k>) {
    return Flag<group(g).edges[k].adds_in_place()>{};
  }
  template <int g, int k>
  static constexpr auto adds_apart(Number<g>, Number<k>) {
    return Flag<group(g).edges[k].adds_apart()>{};
  }
  template <int g, int k>
  static constexpr auto shares_gradient(Number<g>, Number<k>) {
    return Flag<group(g).edges[k].shares>{};
  }
  template <int g, int k>
  static constexpr auto finishes(Number<g>, Number<k>) {
    return Flag<group(g).edges[k].finishes>{};
  }
  template <int g, int k>
  static constexpr auto applies(Number<g>, Number<k>) {
    return Flag < group(g).edges[k].finishes && !group(g).edges[k].adds_apart() > {};
  }
  template <int g>
  static constexpr auto seed_finishes(Number<g>) {
    return Flag < g < 0 || group(g).seed_finishes > {};
  }
  /// Whether the head of the group has a state that is carried from call to call.
  template <int g>
  static constexpr auto carries(Number<g>) {
    constexpr int head = group(g).head;
    return Flag<(head >= 0 && planned.nodes[head < 0 ? 0 : head].state > 0)>{};
  }
  /// The variant of the group's head, as a type. nvcc needs the concept has_variant, and the type of the layer as
  /// layer<node>() returns it.
  template <PassKind kind, int g>
  static constexpr auto variant(Number<g>) {
    constexpr int node = planned.groups[g].head;
    if constexpr (node >= 0) {
      using L = std::remove_cvref_t<decltype(layer<node>())>;
      if constexpr (has_variant<L, kind>) {
        // A GPU's kernel is compiled for one network, so it gets the variant of a stream's step where that says more.
        constexpr bool as_stream =
            many_threads<Backend> && !std::is_same_v<VariantOf<L, PassKind::stream>, VariantOf<L, kind>>;
        constexpr PassKind asked = as_stream ? PassKind::stream : kind;
        constexpr auto value =
            Graph::template layer<node>.template variant<asked>(Graph::template input_shapes<node>[0]);
        using Value = std::remove_const_t<decltype(value)>;
        constexpr bool is_constant =
            compiles_variants<Backend> || std::is_same_v<Value, bool> || std::is_enum_v<Value> || as_stream;
        if constexpr (compiles_variants<Backend> && has_sizes<L, kind, value>) {
          return Graph::template sized_variant<kind, Graph::recorded.kind[node], value>();
        } else {
          return std::conditional_t<is_constant, std::integral_constant<Value, value>, NoVariant>{};
        }
      } else {
        return NoVariant{};
      }
    } else {
      return NoVariant{};
    }
  }
  /// Whether the head of the group makes images of images. Its kernels take their sizes as numbers, and would be
  /// compiled once for each if they were constants.
  template <int g>
  static constexpr auto maps_images(Number<g>) {
    constexpr int head = group(g).head;
    if constexpr (head >= 0 && compiles_variants<Backend>) {
      constexpr Shapes from = Graph::template input_shapes<head>;
      return Flag<(from.size() == 1 && from[0].rank() > 2 && planned.nodes[head].shape.rank() > 2)>{};
    } else {
      return Flag<false>{};
    }
  }
  template <int g>
  static constexpr auto blocked(Number<g>) {
    return Flag<group(g).blocked>{};
  }
  /// The group of output k.
  template <int k = 0>
  static constexpr auto output(Number<k> = {}) {
    return Number<planned.group_of[static_cast<std::size_t>(Graph::outputs[k])]>{};
  }
  static constexpr int inputs_capacity = Graph::inputs + (targets >= 0 ? 1 : 0);
  template <int g>
  static constexpr auto columns(Number<g>) {
    if constexpr (g < 0) {
      return Fixed<planned.nodes[input_node<-1 - g>].shape.size()>{};
    } else if constexpr (planned.groups[g].output < 0) {
      return Fixed<1>{};
    } else {
      return Fixed<planned.nodes[planned.groups[g].output].shape.size()>{};
    }
  }
  /// The parameters of a group's layer, and those of the whole network.
  static constexpr Slots slots(int g) {
    int const head = group(g).head, first = head < 0 ? 0 : Graph::parameters.first[static_cast<std::size_t>(head)];
    return {memory.slots.data() + first, Graph::parameters.list.data() + first};
  }
  template <int like>
  static constexpr Slots slots(Alike<like> g) {
    int const first = place(g).first_parameter;
    return {memory.slots.data() + first, Graph::parameters.list.data() + first};
  }
  static constexpr Slots slots() { return {memory.slots.data(), Graph::parameters.list.data()}; }
  /// The layer of a node. On the host it is a reference: g++ would read a copy from memory again, and a stream would
  /// lose its shapes. On a GPU it is a copy, because code there can use constants but not the tables of the host, and
  /// nvcc optimises the copy away.
  template <int node>
  static constexpr decltype(auto) layer() {
#if defined __CUDA_ARCH__
    constexpr auto constant = Graph::template layer<node>;
    return constant;
#else
    return (Graph::template layer<node>);
#endif
  }
  /// Calls some(layer) with the layer at the head of the group, or none() if there is none.
  template <int g, class Some, class None>
  __attribute__((always_inline)) static constexpr void head(Number<g>, Some some, None none) {
    if constexpr (planned.groups[g].head >= 0) {
      some(layer<planned.groups[g].head>());
    } else {
      none();
    }
  }
  template <int g>
  static constexpr auto pools(Number<g>) {
    return Flag<(planned.groups[g].pooling >= 0)>{};
  }
  template <int g>
  static constexpr auto pooled_last(Number<g>) {
    return Flag<planned.groups[g].pooled_last>{};
  }
  /// The same for the layer that joins another operand.
  template <int g, class Some, class None>
  static constexpr void join(Number<g>, Some some, None none) {
    if constexpr (planned.groups[g].join >= 0) {
      some(layer<planned.groups[g].join>());
    } else {
      none();
    }
  }
  /// The operation of the join with its other operand, other(edge).
  template <int g, class Backend2, class Other>
  static constexpr auto join_with(Number<g>, Backend2 const&, Other other) {
    if constexpr (planned.groups[g].join >= 0) {
      auto const with = other(side(Number<g>{}));
      auto const op = layer<planned.groups[g].join>().join();
      return BinaryPostOp<std::remove_const_t<decltype(op)>, typename Backend2::Scalar>{op, with.other, with.pitch,
                                                                                        with.columns};
    } else {
      return NoJoin{};
    }
  }
  template <int g>
  static constexpr auto chain(Number<g>, std::uint64_t seed) {
    if constexpr (g < 0) {
      return Chain<>{};
    } else {
      return [&]<int... n>(std::integer_sequence<int, n...>) {
        return chain_of(op_of(layer<planned.groups[g].chain[n]>().op(key<planned.groups[g].chain[n]>(seed)))...);
      }
      (std::make_integer_sequence<int, planned.groups[g].chain_length>{});
    }
  }
  /// The shapes of the inputs of the group's head, and the key of its random numbers.
  template <int g>
  static constexpr Shapes head_inputs(Number<g>) {
    return Graph::template input_shapes<planned.groups[g].head>;
  }
  template <int g>
  static constexpr std::uint64_t head_key(Number<g>, std::uint64_t seed) {
    return key<planned.groups[g].head>(seed);
  }
  template <int g, class F>
  static constexpr void loss(Number<g>, F f) {
    constexpr int node = group(g).loss;
    if constexpr (node >= Graph::size) {
      constexpr auto outside = loss_value;
      f(outside);
    } else if constexpr (node >= 0) {
      f(layer<node>());
    }
  }
  template <int g>
  static constexpr auto normalization(Number<g>) {
    constexpr int head = planned.groups[g].head;
    if constexpr (head < 0) {
      return NoNormalization{};
    } else {
      using L = std::remove_cvref_t<decltype(layer<head>())>;
      return std::integral_constant<Normalization, LayerTraits<L>::normalization>{};
    }
  }
  template <int g, class F>
  static constexpr void statistic(Number<g>, F f) {
    if constexpr (group(g).statistic >= 0)
      f(layer<group(g).statistic>(), Shapes{Graph::template input_shapes<group(g).statistic>});
  }
  /// The index of the first sum of node i, or -1.
  static constexpr int sums(int i) { return i < 0 ? -1 : planned.nodes[static_cast<std::size_t>(i)].sums; }
  /// The shape of the values that a loss compares.
  template <int g>
  static constexpr Shape loss_input(Number<g>) {
    if constexpr (group(g).loss < 0) {
      return {};
    } else {
      constexpr Shape shape = planned.nodes[planned.nodes[group(g).loss].inputs[0]].shape;
      return shape;
    }
  }

 private:
  /// The operation, or the backend's replacement for it.
  template <class Op>
  static constexpr auto op_of(Op op) {
    if constexpr (requires { Backend::op(op); }) {
      return Backend::op(op);
    } else {
      return op;
    }
  }
  static constexpr Group nothing{};
  /// Calls f(group), which is a function of its own where several groups share it.
  template <int g, class F>
  __attribute__((always_inline)) static constexpr void visit(Number<g> group, F& f) {
    f(group);
  }
  template <int like, class F>
  __attribute__((noinline)) static constexpr void visit(Alike<like> group, F& f) {
    f(group);
  }
  template <int g>
  static constexpr auto numbered() {
    if constexpr (first_alike[g] < 0) {
      return Number<g>{};
    } else {
      return Alike<first_alike[g]>{{}, g};
    }
  }
  static constexpr std::array<int, size> first_alike = [] {
    if constexpr (compiles_variants<Backend>) {
      return detail::first_alike(planned.groups, planned.plan.groups, planned.nodes, Graph::equals,
                                 detail::large_group);
    } else {
      std::array<int, size> none{};
      none.fill(-1);
      return none;
    }
  }();
  static constexpr int most_edges = [] {
    int most = 0;
    for (Group const& group : planned.groups) most = freestanding::max(most, group.edge_count);
    return most;
  }();
  using Places = std::array<detail::Place<most_edges>, planned.plan.groups>;
  static constexpr Places places = [] {
    Places all{};
    for (int g = 0; g < planned.plan.groups; ++g) {
      Group const& group = planned.groups[g];
      all[g] = detail::Place<most_edges>::of(group, group.head < 0 ? 0 : Graph::parameters.first[group.head]);
    }
    return all;
  }();
  static constexpr auto const& place(int g) { return places[static_cast<std::size_t>(g)]; }
  template <int k>
  static constexpr int input_node = k < Graph::inputs ? k : targets;
  template <int node>
  static constexpr std::uint64_t key(std::uint64_t seed) {
    constexpr auto name = Graph::names[node];
    return layer_key(layer<node>(), seed, name);
  }
};

}  // namespace coldpress
