// The program of a network type with linked kernels: the plan that the compiler makes, as tables for a TableProgram.
#pragma once

// Passes are compiled with the kernels, and read numbers where those of a StaticProgram have constants. One more layer
// therefore costs the compiler next to nothing.

#include <coldpress/kernels/linked_layers.hpp>
#include <coldpress/typed/program_of.hpp>

namespace coldpress {

template <class Graph, class Backend, PlanOptions options, auto loss_value>
class TabledProgram : public StaticProgram<Graph, Backend, options, loss_value>,
                      public NumberedGroups<TabledProgram<Graph, Backend, options, loss_value>> {
  using Constants = StaticProgram<Graph, Backend, options, loss_value>;
  using Numbers = NumberedGroups<TabledProgram>;
  using Types = typename Graph::Types;
  static constexpr int groups = Constants::planned.plan.groups;
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  /// The groups of the outputs.
  static constexpr auto outputs = [] {
    std::array<int, Graph::outputs.size()> all{};
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = Constants::planned.group_of[at(Graph::outputs[k])];
    return all;
  }();

 public:
  /// Makes the operations of pointwise layers, which depend on the seed and on the backend's kernels, and returns the
  /// program of the passes, which refers to this object. With `streams`, that computes blocks of a stream's steps, too.
  template <bool streams = false>
  LinkedProgram const& prepare(Backend& backend, std::uint64_t seed) {
    backend.template link<options.training>();
    if (prepared_by_ == this && seed_ == seed) return passes_;
    for (int g = 0; g < groups; ++g) {
      Group const& group = Constants::group(g);
      for (int i = 0; i < group.chain_length; ++i)
        set_operation(group.chain[i], backend, seed, operations_[at(first_operation[at(g)] + i)]);
      if (group.join >= 0) set_operation(group.join, backend, seed, joins_[at(g)]);
      head(
          g, [&](auto const& layer) { keys_[at(g)] = layer_key(layer, seed, Graph::names[at(group.head)]); }, [] {});
    }
    passes_ = {tables<streams>, operations_.data(), joins_.data(), keys_.data()};
    prepared_by_ = this, seed_ = seed;
    return passes_;
  }

  /// The same, once it is prepared.
  LinkedProgram const& passes() const { return passes_; }

  // What plan_stream and the count of calls ask of a program, with numbers for groups and edges.
  static constexpr Group const& group(int g) { return Constants::group(g); }
  using Numbers::for_each_edge;
  using Numbers::for_each_group;
  using Numbers::input;
  template <class Some, class None>
  static constexpr void head(int g, Some some, None none) {
    if (group(g).head < 0) return none();
    visit(group(g).head, [&](auto const& layer) {
      if constexpr (ComputeLayer<std::remove_cvref_t<decltype(layer)>>) some(layer);
    });
  }
  static constexpr Shapes head_inputs(int g) {
    int const first = shapes.first[at(group(g).head)], end = shapes.first[at(group(g).head + 1)];
    return {shapes.list.data() + first, at(end - first)};
  }

  /// The maximum number of kernel calls in a pass over one sample; 0 if the pass does anything else.
  static constexpr Index calls = [] {
    Index sum = 0;
    for (int const output : outputs) {
      if (output < 0) return Index{0};  // an input
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
  static constexpr auto first_operation = [] {
    std::array<int, static_cast<std::size_t>(groups + 1)> first{};
    for (int g = 0; g < groups; ++g) first[at(g + 1)] = first[at(g)] + group(g).chain_length;
    return first;
  }();
  static constexpr auto outside = loss_value;
  template <detail::LayerRoles roles>
  static constexpr auto layers = [] {
    std::array<detail::TableLayer<Backend>, static_cast<std::size_t>(Constants::size)> all{};
    auto const set = [&](detail::TableLayer<Backend>& entry, auto const& layer) {
      entry = detail::TableLayer<Backend>::template of<roles, std::remove_cvref_t<decltype(layer)>>();
      entry.layer = &layer;
    };
    for (int i = Graph::inputs; i < Graph::size; ++i) visit(i, [&](auto const& layer) { set(all[at(i)], layer); });
    if constexpr (Constants::has_loss) set(all.back(), outside);
    return all;
  }();
  template <bool streams>
  static constexpr detail::ProgramTables<Backend> tables{
      &Constants::planned.plan,
      Constants::planned.nodes.data(),
      Constants::planned.groups.data(),
      layers<detail::LayerRoles{options.training, options.losses, streams}>.data(),
      {outputs.data(), outputs.size()},
      columns_of.data() + Constants::inputs_capacity,
      shapes.list.data(),
      shapes.first.data(),
      windows_of.data(),
      first_operation.data(),
      Constants::slots(),
      Graph::parameters.first.data(),
      Graph::parameter_count};

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
        auto& op = operations<kind>(values_)[Graph::recorded.slot[at(node)]];
        op = layer.op(layer_key(layer, seed, Graph::names[at(node)]));
        erased = backend.template erased<L>();
        erased.op = &op;
      } else if constexpr (JoinLayer<L> && std::is_same_v<Erased, ErasedJoin>) {
        auto& op = operations<kind>(values_)[Graph::recorded.slot[at(node)]];
        op = layer.join();
        erased = backend.template erased_join<L>();
        erased.op = &op;
      }
    });
  }

  [[no_unique_address]] AllOperations<std::make_integer_sequence<int, detail::size_of(Types{})>, typename Types::Plain>
      values_{};
  std::array<ErasedOp, at(first_operation[at(groups)])> operations_{};
  std::array<ErasedJoin, at(groups)> joins_{};
  std::array<std::uint64_t, at(groups)> keys_{};
  LinkedProgram passes_{};
  TabledProgram const* prepared_by_ = nullptr;  // it may have been moved since
  std::uint64_t seed_ = 0;
};

template <class Graph, class Backend, PlanOptions options, auto loss_value>
requires is_linked<Backend>
struct ProgramOf<Graph, Backend, options, loss_value> {
  using type = TabledProgram<Graph, Backend, options, loss_value>;
};

}  // namespace coldpress
