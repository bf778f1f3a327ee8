// The program of a network type with precompiled kernels: the plan that the compiler makes, in tables.
#pragma once

// The executor is compiled once per type of layer and not once per layer, and it passes numbers to kernels. One more
// layer therefore costs the compiler next to nothing.

#include <coldpress/run/numbered_groups.hpp>
#include <coldpress/typed/static_program.hpp>

namespace coldpress {

/// A backend that is ready to compute outside of a network's passes.
template <class Backend>
Backend ready() {
  Backend backend{};
  if constexpr (is_linked<Backend>) backend.template link<true>();
  return backend;
}

template <class Graph, class Backend, PlanOptions options, auto loss_value = OwnLosses{}>
class LinkedProgram : public StaticProgram<Graph, Backend, options, loss_value>,
                      public NumberedGroups<LinkedProgram<Graph, Backend, options, loss_value>> {
  using Constants = StaticProgram<Graph, Backend, options, loss_value>;
  using Numbers = NumberedGroups<LinkedProgram>;
  using Types = typename Graph::Types;
  static constexpr int groups = Constants::planned.plan.groups;

 public:
  static constexpr bool trains = options.training;
  /// Prepares a pass: makes its operations, which depend on the seed and on the backend's kernels.
  void prepare(Backend const& backend, std::uint64_t seed) {
    if (prepared_by_ == this && seed_ == seed) return;
    for (int g = 0; g < groups; ++g) {
      for (int i = 0; i < group(g).chain_length; ++i)
        set_operation(group(g).chain[i], backend, seed, chains_[at(first_op[at(g)] + i)]);
      if (group(g).join >= 0) set_operation(group(g).join, backend, seed, joins_[at(g)]);
    }
    prepared_by_ = this, seed_ = seed;
  }

  // The functions that a Run needs, with numbers for groups and edges.
  static constexpr Group const& group(int g) { return Constants::group(g); }
  using Numbers::adds_apart;
  using Numbers::adds_in_place;
  using Numbers::applies;
  using Numbers::blocked;
  using Numbers::carries;
  using Numbers::finishes;
  using Numbers::for_each_edge;
  using Numbers::for_each_group;
  using Numbers::for_each_group_reversed;
  using Numbers::input;
  using Numbers::maps_images;
  using Numbers::passes_gradient;
  using Numbers::pooled_last;
  using Numbers::pools;
  using Numbers::seed_finishes;
  using Numbers::shares_gradient;
  using Numbers::side;
  using Numbers::some_edge;
  using Numbers::some_group;
  using Numbers::variant;
  static constexpr int output(int k = 0) { return Constants::planned.group_of[at(Graph::outputs[at(k)])]; }
  static constexpr Index columns(int g) { return columns_of[at(g + Constants::inputs_capacity)]; }
  template <class Some, class None>
  static constexpr void head(int g, Some some, None none) {
    if (group(g).head < 0) return none();
    visit(group(g).head, [&](auto const& layer) {
      if constexpr (ComputeLayer<std::remove_cvref_t<decltype(layer)>>) some(layer);
    });
  }
  template <class Some, class None>
  static constexpr void join(int g, Some some, None none) {
    if (group(g).join < 0) return none();
    visit(group(g).join, [&](auto const& layer) {
      if constexpr (JoinLayer<std::remove_cvref_t<decltype(layer)>>) some(layer);
    });
  }
  template <class Other>
  BinaryPostOp<ErasedJoin, float> join_with(int g, Backend const&, Other other) const {
    if (group(g).join < 0) return {};
    auto const with = other(group(g).side);
    return {joins_[at(g)], with.other, with.pitch, with.columns};
  }
  ErasedChain chain(int g, std::uint64_t) const {
    if (g < 0) return {nullptr, 0};
    return {chains_.data() + first_op[at(g)], group(g).chain_length};
  }
  static constexpr PoolingGeometry windows(int g) { return windows_of[at(g)]; }
  static constexpr Shapes head_inputs(int g) { return inputs_of(group(g).head); }
  static constexpr std::uint64_t head_key(int g, std::uint64_t seed) {
    std::uint64_t key = 0;
    head(
        g, [&](auto const& layer) { key = layer_key(layer, seed, Graph::names[at(group(g).head)]); }, [] {});
    return key;
  }
  template <class F>
  static constexpr void loss(int g, F f) {
    if constexpr (Constants::has_loss) {
      if (group(g).loss >= Graph::size) return f(loss_value);
    }
    visit(group(g).loss, [&](auto const& layer) {
      if constexpr (Loss<std::remove_cvref_t<decltype(layer)>>) f(layer);
    });
  }
  static constexpr Shape loss_input(int g) {
    Node const& loss = Constants::planned.nodes[at(group(g).loss)];
    return Constants::planned.nodes[at(loss.inputs[0])].shape;
  }
  template <class F>
  static constexpr void statistic(int g, F f) {
    if (group(g).statistic < 0) return;
    visit(group(g).statistic, [&](auto const& layer) {
      if constexpr (Statistic<std::remove_cvref_t<decltype(layer)>>) f(layer, inputs_of(group(g).statistic));
    });
  }

  /// The maximum number of kernel calls in a pass over one sample; 0 if the pass does anything else.
  static constexpr Index calls = [] {
    Index sum = 0;
    for (int k = 0; k < static_cast<int>(Graph::outputs.size()); ++k) {
      if (output(k) < 0) return Index{0};  // an input
    }
    for (int g = 0; g < groups; ++g) {
      if (!group(g).needed) continue;
      Index some = 1;
      head(
          g,
          [&](auto const& layer) {
            using Traits = LayerTraits<std::remove_cvref_t<decltype(layer)>>;
            some = Traits::with_input(layer, head_inputs(g)).loops_too ? 0 : Backend::calls_of(layer);
          },
          [] {});
      if (some == 0) return Index{0};
      sum += some;
    }
    return sum;
  }();

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  /// Calls f(layer) with the layer of a node. It is compiled once for each type of layer that the network has.
  template <class F>
  static constexpr void visit(int node, F f) {
    int const kind = Graph::recorded.kind[at(node)], slot = Graph::recorded.slot[at(node)];
    [&]<int... k>(std::integer_sequence<int, k...>) { (visit_one<k>(kind, slot, f), ...); }
    (std::make_integer_sequence<int, detail::size_of(Types{})>{});
  }
  template <int k, class F>
  static constexpr void visit_one(int kind, int slot, F f) {
    if constexpr (Graph::counts.layers[k] > 0) {
      if (k == kind) f(detail::stored<k>(Graph::recorded).list[slot]);
    }
  }

  /// The shapes of all nodes' inputs as one list, and for each node where its shapes start.
  static constexpr int shape_count = [] {
    int count = 0;
    for (int i = 0; i < Graph::size; ++i) count += Graph::nodes[at(i)].input_count();
    return count;
  }();
  struct InputShapes {
    std::array<Shape, static_cast<std::size_t>(shape_count)> list{};
    std::array<int, static_cast<std::size_t>(Graph::size + 1)> first{};
  };
  static constexpr InputShapes shapes = [] {
    InputShapes all{};
    int count = 0;
    for (int i = 0; i < Graph::size; ++i) {
      all.first[at(i)] = count;
      Node const& node = Graph::nodes[at(i)];
      for (int k = 0; k < node.input_count(); ++k) all.list[at(count++)] = Graph::nodes[at(node.inputs[k])].shape;
    }
    all.first[at(Graph::size)] = count;
    return all;
  }();
  static constexpr Shapes inputs_of(int node) {
    return {shapes.list.data() + shapes.first[at(node)], at(shapes.first[at(node) + 1] - shapes.first[at(node)])};
  }
  /// Values per sample: of the network's inputs, the last one first, and then of each group.
  static constexpr auto columns_of = [] {
    std::array<Index, static_cast<std::size_t>(Constants::inputs_capacity + groups)> all{};
    for (int k = 0; k < Constants::inputs_capacity; ++k) {
      int const node = k < Graph::inputs ? k : Constants::targets;
      all[at(Constants::inputs_capacity - 1 - k)] = Constants::planned.nodes[at(node)].shape.size();
    }
    for (int g = 0; g < groups; ++g) {
      int const output = group(g).output;
      all[at(Constants::inputs_capacity + g)] = output < 0 ? 1 : Constants::planned.nodes[at(output)].shape.size();
    }
    return all;
  }();
  static constexpr auto windows_of = []<int... g>(std::integer_sequence<int, g...>) {
    return std::array<PoolingGeometry, sizeof...(g)>{Constants::windows(std::integral_constant<int, g>{})...};
  }
  (std::make_integer_sequence<int, groups>{});
  static constexpr auto first_op = [] {
    std::array<int, static_cast<std::size_t>(groups + 1)> first{};
    for (int g = 0; g < groups; ++g) first[at(g + 1)] = first[at(g)] + group(g).chain_length;
    return first;
  }();

  /// The operations of all layers of one type.
  template <int kind, class L, int count>
  struct Operations {};
  template <int kind, class L, int count>
  requires(count > 0 && PointwiseLayer<L>) struct Operations<kind, L, count> {
    decltype(L{}.op(0)) list[static_cast<std::size_t>(count)];
  };
  template <int kind, class L, int count>
  requires(count > 0 && JoinLayer<L>) struct Operations<kind, L, count> {
    decltype(L{}.join()) list[static_cast<std::size_t>(count)];
  };
  template <class Kinds, class List>
  struct AllOperations;
  template <int... kinds, class... Layers>
  struct AllOperations<std::integer_sequence<int, kinds...>, TypeList<Layers...>>
      : Operations<kinds, Layers, Graph::counts.layers[kinds]>... {};
  template <int kind, class L, int count>
  static constexpr auto& operations(Operations<kind, L, count>& all) {
    return all.list;
  }
  /// Stores the operation of a node and the backend's functions for it.
  template <class Erased>
  void set_operation(int node, Backend const& backend, std::uint64_t seed, Erased& erased) {
    visit(node, [&](auto const& layer) {
      using L = std::remove_cvref_t<decltype(layer)>;
      constexpr int kind = index_of<L>(Types{});
      if constexpr (PointwiseLayer<L> && std::is_same_v<Erased, ErasedOp>) {
        auto& op = operations<kind>(operations_)[Graph::recorded.slot[at(node)]];
        op = layer.op(layer_key(layer, seed, Graph::names[at(node)]));
        erased = backend.template erased<L>();
        erased.op = &op;
      } else if constexpr (JoinLayer<L> && std::is_same_v<Erased, ErasedJoin>) {
        auto& op = operations<kind>(operations_)[Graph::recorded.slot[at(node)]];
        op = layer.join();
        erased = backend.template erased_join<L>();
        erased.op = &op;
      }
    });
  }

  [[no_unique_address]] AllOperations<std::make_integer_sequence<int, detail::size_of(Types{})>, typename Types::Plain>
      operations_{};
  std::array<ErasedOp, at(first_op[at(groups)])> chains_{};
  std::array<ErasedJoin, at(groups)> joins_{};
  LinkedProgram const* prepared_by_ = nullptr;  // operations are addresses inside a program, which may have been moved
  std::uint64_t seed_ = 0;
};

/// What a workspace keeps for repeating a pass over one sample of `input` values that is `calls` calls of kernels.
template <class Backend, Index input, Index calls>
struct KeptCalls {
  using type = typename Backend::template RepeatedCalls<input, calls>;
};
template <class Backend, Index input>
struct KeptCalls<Backend, input, 0> {
  struct type {};
};

/// The program of a network type on a backend. It is not an alias, because nvcc loses the default argument of one.
template <class Graph, class Backend, PlanOptions options, auto loss_value = OwnLosses{}>
struct ProgramOf {
  using type = std::conditional_t<is_linked<Backend>, LinkedProgram<Graph, Backend, options, loss_value>,
                                  StaticProgram<Graph, Backend, options, loss_value>>;
};

}  // namespace coldpress
