// A program in tables: what is known about a network, as numbers that its passes read when they run.
#pragma once

// All networks in tables on a backend have this one type of program, so that their passes, and the functions of layers
// that these call (run/layer_functions.hpp), are compiled once. The compiler makes the tables of a network type with
// linked kernels (typed/tabled_program.hpp); those of a config are made when it is loaded.

#include <coldpress/run/numbered_groups.hpp>
#include <coldpress/run/run.hpp>

namespace coldpress {

namespace detail {
/// A layer, a loss or a statistic of a network, and its functions.
template <class Backend>
struct TableLayer;

/// All constants of a network, which last as long as the program is run. A list by group has an item for each group
/// that is planned.
template <class Backend>
struct ProgramTables {
  PlanSummary const* plan;
  Node const* nodes;
  Group const* groups;
  TableLayer<Backend> const* layers;  // by node
  View<int const> outputs;            // the groups of the network's outputs
  Index const* columns;               // values per sample by group, and before them those of the inputs, the last first
  Shape const* shapes;                // of the inputs of all nodes, one after another, ...
  int const* first_shape;             // ... and by node, where its own begin; one more for the end
  PoolingGeometry const* windows;     // by group
  int const* first_operation;         // by group: where its pointwise operations begin in the list of all
  Slots slots;                        // of all parameters, ...
  int const* first_parameter;         // ... and by node, where its own begin
  int parameter_count;
};
}  // namespace detail

/// The tables of a network, and what its passes need besides: its pointwise operations, and the keys of its random
/// numbers, which depend on the seed.
template <class Backend>
class TableProgram : public NumberedGroups<TableProgram<Backend>> {
  using T = typename Backend::Scalar;
  using Operation = BasicErasedOp<T>;
  using Join = BasicErasedJoin<T>;

 public:
  TableProgram() = default;
  /// `operations` are those of all groups, one group after another; `joins` and `keys` are by group. All are borrowed.
  TableProgram(detail::ProgramTables<Backend> const& tables, Operation const* operations, Join const* joins,
               std::uint64_t const* keys)
      : tables_(&tables), operations_(operations), joins_(joins), keys_(keys) {}

  PlanSummary const& plan() const { return *tables_->plan; }
  Group const& group(int g) const {
    static constexpr Group nothing{};
    return g < 0 ? nothing : tables_->groups[g];
  }
  static constexpr int inputs_capacity = max_network_inputs + 1;
  int output(int k = 0) const { return tables_->outputs[k]; }
  int output_count() const { return static_cast<int>(tables_->outputs.size()); }
  Index columns(int g) const { return tables_->columns[g]; }
  int parameter_count() const { return tables_->parameter_count; }
  Slots slots() const { return tables_->slots; }
  Slots slots(int g) const {
    int const head = group(g).head, first = head < 0 ? 0 : tables_->first_parameter[head];
    return {tables_->slots.slots + first, tables_->slots.parameters + first};
  }
  static constexpr bool bounds_weights() { return true; }  // some may be
  int sums(int node) const { return node < 0 ? -1 : tables_->nodes[node].sums; }
  BasicErasedChain<T> chain(int g, std::uint64_t) const {
    if (g < 0) return {nullptr, 0};
    return {operations_ + tables_->first_operation[g], group(g).chain_length};
  }
  template <class Other>
  BinaryPostOp<Join, T> join_with(int g, Backend const&, Other other) const {
    if (group(g).join < 0) return {};
    auto const with = other(group(g).side);
    return {joins_[g], with.other, with.pitch, with.columns};
  }
  Shapes head_inputs(int g) const { return inputs_of(group(g).head); }
  std::uint64_t head_key(int g, std::uint64_t) const { return keys_[g]; }
  PoolingGeometry windows(int g) const { return tables_->windows[g]; }
  Shape loss_input(int g) const {
    Node const& loss = tables_->nodes[group(g).loss];
    return tables_->nodes[loss.inputs[0]].shape;
  }
  Normalization normalization(int g) const {
    int const head = group(g).head;
    return head < 0 ? Normalization::none : tables_->layers[head].normalization;
  }
  template <class Some, class None>
  void head(int g, Some some, None none) const {
    int const head = group(g).head;
    head < 0 ? none() : some(tables_->layers[head]);
  }
  template <class Some, class None>
  void join(int g, Some some, None none) const {
    int const join = group(g).join;
    join < 0 ? none() : some(tables_->layers[join]);
  }
  template <class F>
  void loss(int g, F f) const {
    f(tables_->layers[group(g).loss]);
  }
  template <class F>
  void statistic(int g, F f) const {
    int const statistic = group(g).statistic;
    if (statistic >= 0) f(tables_->layers[statistic], inputs_of(statistic));
  }

 private:
  Shapes inputs_of(int node) const {
    int const first = tables_->first_shape[node];
    return {tables_->shapes + first, static_cast<std::size_t>(tables_->first_shape[node + 1] - first)};
  }
  detail::ProgramTables<Backend> const* tables_ = nullptr;
  Operation const* operations_ = nullptr;
  Join const* joins_ = nullptr;
  std::uint64_t const* keys_ = nullptr;
};

/// A pass of a network over a minibatch, and one over a block of a stream's steps.
template <class Backend>
using TableRun = Run<TableProgram<Backend>, Backend, Index, typename Backend::Scalar*>;
template <class Backend>
using TableBlockRun =
    Run<TableProgram<Backend>, Backend, StepBlock<typename Backend::Scalar>, typename Backend::Scalar*>;

}  // namespace coldpress
