// Plans a config when the program runs, and keeps the plan in tables.
#pragma once

#include "graph.hpp"
#include "visit.hpp"

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/graph/slots.hpp>
#include <coldpress/run/numbered_groups.hpp>

#include <algorithm>

namespace coldpress::dynamic {

/// What does not depend on the type of a backend; program_for.hpp has the rest.
class Program : public NumberedGroups<Program> {
 public:
  static constexpr int inputs_capacity = max_network_inputs + 1;
  Program(Program const&) = delete;

  // What the program was made of. The nodes include the objective's layers, loss and targets.
  Graph const& graph() const { return graph_; }
  PlanOptions const& options() const { return options_; }
  std::vector<Node> const& nodes() const { return nodes_; }
  std::vector<GraphLayer> const& layers() const { return layers_; }
  std::vector<std::string> const& names() const { return names_; }
  /// The node of the objective's targets, or -1 if there is no objective.
  int target() const { return target_; }

  PlanSummary const& plan() const { return plan_; }
  Index scratch() const { return scratch_; }
  /// The scratch, in floats, of each worker other than the caller.
  Index worker_scratch() const { return worker_scratch_; }
  Index parameter_size() const { return parameter_size_; }
  Slot const& slot(int parameter) const { return slots_[static_cast<std::size_t>(parameter)]; }
  Slots slots() const { return {slots_.data(), graph_.parameters.data()}; }
  int parameter_count() const { return static_cast<int>(graph_.parameters.size()); }
  bool shares() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.shared; });
  }
  /// Whether any weight is trained.
  bool learns() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.reached; });
  }

  // What plan_stream asks of a program.
  Group const& group(int g) const {
    static constexpr Group nothing{};
    return g < 0 ? nothing : groups_[static_cast<std::size_t>(g)];
  }
  Shapes head_inputs(int g) const { return inputs_of(static_cast<std::size_t>(group(g).head)); }
  template <class Some, class None>
  void head(int g, Some some, None none) const {
    int const head = group(g).head;
    if (head < 0) return none();
    visit_some<Computing>(layers_[static_cast<std::size_t>(head)], some);
  }

  /// Calls f(reader, in, input) for each loss and statistic that reads labels, where `in` is the shape that it compares
  /// with them, and `input` is the network input that has them. An objective's targets are the input after all others.
  template <class F>
  void for_each_labelled(F f) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      visit_some<ReadingLabels>(layers_[i], [&](auto const& reader) {
        f(reader, inputs_of(i)[0], std::min(source_of(nodes_, nodes_[i].inputs[1]), graph_.inputs()));
      });
    }
  }
  /// The shape of a sample of the objective's targets.
  Shape target_shape() const { return nodes_[static_cast<std::size_t>(target_)].shape; }

  /// Whether the forward passes of all layers can be recorded.
  bool calls_primitives() const;

 protected:
  /// `planned` are the options with what the backend adds to them. The graph must outlive the program.
  Program(Graph const& graph, PlanOptions options, PlanOptions planned, Objective const* objective);

  Shapes inputs_of(std::size_t node) const {
    auto const first = static_cast<std::size_t>(first_shape_[node]),
               end = static_cast<std::size_t>(first_shape_[node + 1]);
    return {shapes_.data() + first, end - first};
  }

  Graph const& graph_;
  PlanOptions options_;
  std::vector<GraphLayer> layers_;
  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::vector<int> first_parameter_;
  std::vector<Slot> slots_;
  Index parameter_size_ = 0;
  Index scratch_ = 0, worker_scratch_ = 0;
  PlanSummary plan_;
  // The tables: see ProgramTables.
  std::vector<Group> groups_;
  std::vector<int> group_of_, outputs_;
  std::vector<Index> columns_;
  std::vector<Shape> shapes_;
  std::vector<int> first_shape_;
  std::vector<PoolingGeometry> windows_;

 private:
  struct Computing {
    template <class L>
    static constexpr bool of = ComputeLayer<L>;
  };
  struct ReadingLabels {
    template <class L>
    static constexpr bool of = Labelled<L>;
  };

  void add(Objective const& objective);

  int target_ = -1;
};

}  // namespace coldpress::dynamic
