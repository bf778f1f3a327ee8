// The program of a config: what graph/static_program.hpp is to a type. The same plan function, run now.
#pragma once

#include "graph.hpp"

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/graph/plan.hpp>
#include <coldpress/graph/slots.hpp>

namespace coldpress::dynamic {

class Program {
 public:
  /// Backend says the layout and makes the erased operations of pointwise layers. The graph must outlive the program.
  template <class Backend>
  Program(Graph const& graph, Backend const& backend, PlanOptions options, std::uint64_t seed,
          Objective const* objective = nullptr)
      : graph_(graph),
        layers_(graph.layers),
        nodes_(graph.nodes),
        names_(graph.names),
        first_parameter_(graph.first_parameter) {
    if (objective) add(*objective);
    options.pitch = Backend::pitch;
    groups_.resize(nodes_.size());
    group_of_.resize(nodes_.size());
    plan_ = make_plan(nodes_, graph.outputs, options, groups_, group_of_);
    slots_.resize(graph.parameters.size());
    parameter_size_ = lay_out<Backend>(graph.parameters, graph.node_of, graph.owner, groups_, group_of_, slots_);
    for (int g = 0; g < plan_.groups; ++g) {
      Group const& group = groups_[static_cast<std::size_t>(g)];
      head(
          g,
          [&](auto const& layer) {
            Extent const extent{options.training, options.training && passes_gradient(g)};
            scratch_ = std::max(scratch_, scratch_of<Backend>(layer, head_input(g), extent));
          },
          [] {});
      first_op_.push_back(ops_.size());
      for (int i = 0; i < group.chain_length; ++i) add_op(backend, static_cast<std::size_t>(group.chain[i]), seed);
    }
  }
  Program(Program const&) = delete;

  PlanSize const& plan() const { return plan_; }
  Index scratch() const { return scratch_; }
  Index parameter_size() const { return parameter_size_; }
  Slot const& slot(int parameter) const { return slots_[static_cast<std::size_t>(parameter)]; }
  bool shares() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.shared; });
  }
  /// Whether any weight learns.
  bool learns() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.reached; });
  }

  // What a Run asks for.
  Group const& group(int g) const {
    static constexpr Group nothing{};
    return g < 0 ? nothing : groups_[static_cast<std::size_t>(g)];
  }
  template <class F>
  void for_each_group(F f) const {
    for (int g = 0; g < plan_.groups; ++g) f(g);
  }
  template <class F>
  void for_each_group_reversed(F f) const {
    for (int g = plan_.groups - 1; g >= 0; --g) f(g);
  }
  int input(int g) const { return group(g).input; }
  /// The group of output k.
  int output(int k = 0) const {
    return group_of_[static_cast<std::size_t>(graph_.outputs[static_cast<std::size_t>(k)])];
  }
  static constexpr int inputs_capacity = max_network_inputs;
  Index columns(int g) const {
    if (g < 0) return nodes_[static_cast<std::size_t>(-1 - g)].shape.size();
    int const output = group(g).output;
    return output < 0 ? 1 : nodes_[static_cast<std::size_t>(output)].shape.size();
  }
  Slots slots(int g) const {
    int const head = group(g).head;
    int const first = head < 0 ? 0 : first_parameter_[static_cast<std::size_t>(head)];
    return {slots_.data() + first, graph_.parameters.data() + first};
  }
  Slots slots() const { return {slots_.data(), graph_.parameters.data()}; }
  int parameter_count() const { return static_cast<int>(graph_.parameters.size()); }
  bool passes_gradient(int g) const { return group(g).passes_gradient; }
  template <class Some, class None>
  void head(int g, Some some, None none) const {
    int const head = group(g).head;
    if (head < 0) return none();
    std::visit(
        [&](auto const& layer) {
          if constexpr (ComputeLayer<std::remove_cvref_t<decltype(layer)>>) some(layer);
        },
        layers_[static_cast<std::size_t>(head)]);
  }
  Shape head_input(int g) const {
    return nodes_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(group(g).head)].inputs[0])].shape;
  }
  std::uint64_t head_key(int g, std::uint64_t seed) const {
    auto const node = static_cast<std::size_t>(group(g).head);
    std::uint64_t key = 0;
    head(
        g, [&](auto const& layer) { key = layer_key(layer, seed, names_[node]); }, [] {});
    return key;
  }
  ErasedChain chain(int g, std::uint64_t) const {
    if (g < 0) return {nullptr, 0};
    return {ops_.data() + first_op_[static_cast<std::size_t>(g)], group(g).chain_length};
  }
  /// The shape of a sample that the loss compares.
  Shape loss_input() const { return nodes_[static_cast<std::size_t>(nodes_.back().inputs[0])].shape; }
  template <class F>
  void loss(F f) const {
    if (loss_) std::visit(f, *loss_);
  }

 private:
  void add(Objective const& objective) {
    int from = graph_.outputs[0];
    auto const shape = [&] { return nodes_[static_cast<std::size_t>(from)].shape; };
    for (LayerType const& type : objective.layers) {
      std::visit(
          [&](auto const& layer) {
            if constexpr (coldpress::Layer<std::remove_cvref_t<decltype(layer)>>)
              nodes_.push_back(node_of(layer, from, shape()));
          },
          type);
      from = static_cast<int>(nodes_.size()) - 1;
      layers_.push_back(type);
      names_.emplace_back();
      first_parameter_.push_back(first_parameter_.back());
    }
    loss_ = objective.loss;
    std::visit([&](auto const& loss) { nodes_.push_back(node_of(loss, from, shape())); }, *loss_);
  }
  template <class Backend>
  void add_op(Backend const& backend, std::size_t node, std::uint64_t seed) {
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (PointwiseLayer<L>) {
            auto op = std::make_shared<decltype(layer.op(0))>(layer.op(layer_key(layer, seed, names_[node])));
            ErasedOp erased = backend.template erased<L>();
            erased.op = op.get();
            ops_.push_back(erased);
            op_storage_.push_back(std::move(op));
          }
        },
        layers_[node]);
  }

  Graph const& graph_;
  std::vector<LayerType> layers_;
  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::vector<int> first_parameter_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;
  PlanSize plan_;
  std::vector<Slot> slots_;
  Index parameter_size_ = 0;
  Index scratch_ = 0;
  std::vector<ErasedOp> ops_;
  std::vector<std::size_t> first_op_;
  std::vector<std::shared_ptr<void const>> op_storage_;
  std::optional<AnyLoss> loss_;
};

}  // namespace coldpress::dynamic
