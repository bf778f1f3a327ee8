// The program of a config: the counterpart of typed/static_program.hpp, with the same plan function called at run time.
#pragma once

#include "graph.hpp"
#include "visit.hpp"

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/graph/slots.hpp>
#include <coldpress/run/numbered_groups.hpp>
#include <coldpress/run/program.hpp>

#include <algorithm>

namespace coldpress::dynamic {

class Program : public NumberedGroups<Program> {
 public:
  /// The backend determines the layout, and makes the erased operations of pointwise layers. The graph must outlive the
  /// program.
  template <class Backend>
  Program(Graph const& graph, Backend const& backend, PlanOptions options, std::uint64_t seed,
          Objective const* objective = nullptr)
      : graph_(graph),
        layers_(graph.layers),
        nodes_(graph.nodes),
        names_(graph.names),
        first_parameter_(graph.first_parameter) {
    if (objective) add(*objective);
    options_ = options;
    options.pitch = Backend::pitch;
    if (!keeps_blocks<Backend>) options.blocks = 0;
    options.adds_in_place = coldpress::adds_in_place<Backend>;
    for (Node const& node : nodes_) {
      first_shape_.push_back(shapes_.size());
      for (int k = 0; k < node.input_count(); ++k)
        shapes_.push_back(nodes_[static_cast<std::size_t>(node.inputs[k])].shape);
    }
    first_shape_.push_back(shapes_.size());
    groups_.resize(nodes_.size());
    group_of_.resize(nodes_.size());
    plan_ = make_plan(nodes_, graph.outputs, options, groups_, group_of_);
    slots_.resize(graph.parameters.size());
    parameter_size_ = lay_out(backend, graph.parameters, graph.parameter_node, graph.owner, groups_, group_of_, slots_);
    for (int g = 0; g < plan_.groups; ++g) {
      Group const& group = groups_[static_cast<std::size_t>(g)];
      head(
          g,
          [&](auto const& layer) {
            auto const scratch = [&](int workers) {
              return scratch_of<Backend>(layer, head_inputs(g),
                                         {options.training, group.passes_gradient(), options.blocks, workers,
                                          windows(g).planes * windows(g).out(), group.edges[0].adds_in_place()});
            };
            scratch_ = std::max(scratch_, scratch(1));
            worker_scratch_ = std::max(worker_scratch_, scratch(2) - scratch(1));
          },
          [] {});
      joins_.emplace_back();
      if (group.join >= 0) add_join(backend, static_cast<std::size_t>(group.join));
      first_op_.push_back(ops_.size());
      for (int i = 0; i < group.chain_length; ++i) add_op(backend, static_cast<std::size_t>(group.chain[i]), seed);
    }
  }
  Program(Program const&) = delete;

  /// Whether the forward passes of all layers can be recorded.
  bool calls_primitives() const {
    bool all = true;
    for (int g = 0; g < plan_.groups; ++g) {
      head(
          g,
          [&](auto const& layer) {
            using Traits = LayerTraits<std::remove_cvref_t<decltype(layer)>>;
            all = all && Traits::calls_primitives && !Traits::with_input(layer, head_inputs(g)).loops_too;
          },
          [] {});
    }
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) all = all && output(static_cast<int>(k)) >= 0;
    return all;
  }

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
  bool shares() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.shared; });
  }
  /// Whether any weight is trained.
  bool learns() const {
    return std::any_of(slots_.begin(), slots_.end(), [](Slot const& slot) { return slot.reached; });
  }

  // The functions that a Run calls.
  Group const& group(int g) const {
    static constexpr Group nothing{};
    return g < 0 ? nothing : groups_[static_cast<std::size_t>(g)];
  }
  /// The group that computes output k.
  int output(int k = 0) const {
    return group_of_[static_cast<std::size_t>(graph_.outputs[static_cast<std::size_t>(k)])];
  }
  int output_count() const { return static_cast<int>(graph_.outputs.size()); }
  static constexpr int inputs_capacity = max_network_inputs + 1;
  Index columns(int g) const {
    if (g < 0) return nodes_[static_cast<std::size_t>(input_node(-1 - g))].shape.size();
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
  static constexpr bool bounds_weights() { return true; }  // some may be, which is known only at run time
  template <class Some, class None>
  void head(int g, Some some, None none) const {
    int const head = group(g).head;
    if (head < 0) return none();
    visit_some<Computing>(layers_[static_cast<std::size_t>(head)], some);
  }
  PoolingGeometry windows(int g) const {
    if (group(g).pooling < 0) return {};
    auto const node = static_cast<std::size_t>(group(g).pooling);
    return std::get<Pooling>(layers_[node]).geometry(inputs_of(node)[0]);
  }
  template <class Some, class None>
  void join(int g, Some some, None none) const {
    int const join = group(g).join;
    if (join < 0) return none();
    visit_some<Joining>(layers_[static_cast<std::size_t>(join)], some);
  }
  template <class Backend, class Other>
  BinaryPostOp<ErasedJoin, float> join_with(int g, Backend const&, Other other) const {
    if (group(g).join < 0) return {};
    auto const with = other(group(g).side);
    return {joins_[static_cast<std::size_t>(g)], with.other, with.pitch, with.columns};
  }
  Shapes head_inputs(int g) const { return inputs_of(static_cast<std::size_t>(group(g).head)); }
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
  /// The shape of a sample that a group's loss compares. loss() calls f(loss).
  Shape loss_input(int g) const {
    Node const& loss = nodes_[static_cast<std::size_t>(group(g).loss)];
    return nodes_[static_cast<std::size_t>(loss.inputs[0])].shape;
  }
  template <class F>
  void loss(int g, F f) const {
    visit_some<Measuring>(layers_[static_cast<std::size_t>(group(g).loss)], f);
  }
  Normalization normalization(int g) const {
    Normalization kind = Normalization::none;
    head(
        g, [&](auto const& layer) { kind = LayerTraits<std::remove_cvref_t<decltype(layer)>>::normalization; }, [] {});
    return kind;
  }
  template <class F>
  void statistic(int g, F f) const {
    if (group(g).statistic < 0) return;
    auto const node = static_cast<std::size_t>(group(g).statistic);
    visit_some<Counting>(layers_[node], [&](auto const& layer) { f(layer, inputs_of(node)); });
  }
  /// The index of a node's first sum, or -1 if it has none.
  int sums(int node) const { return node < 0 ? -1 : nodes_[static_cast<std::size_t>(node)].sums; }
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

 private:
  struct Computing {
    template <class L>
    static constexpr bool of = ComputeLayer<L>;
  };
  struct Joining {
    template <class L>
    static constexpr bool of = JoinLayer<L>;
  };
  struct Measuring {
    template <class L>
    static constexpr bool of = Loss<L>;
  };
  struct Counting {
    template <class L>
    static constexpr bool of = Statistic<L>;
  };
  struct ReadingLabels {
    template <class L>
    static constexpr bool of = Labelled<L>;
  };

  int input_node(int k) const { return k < graph_.inputs() ? k : target_; }
  Shapes inputs_of(std::size_t node) const {
    return {shapes_.data() + first_shape_[node], first_shape_[node + 1] - first_shape_[node]};
  }
  /// Adds the objective's layers, its targets as one more input, and its loss.
  void add(Objective const& objective) {
    int from = graph_.outputs[0];
    auto const shape = [&] { return nodes_[static_cast<std::size_t>(from)].shape; };
    auto const push = [&](Node const& node, GraphLayer layer) {
      nodes_.push_back(node);
      layers_.push_back(std::move(layer));
      names_.emplace_back();
      first_parameter_.push_back(first_parameter_.back());
      return static_cast<int>(nodes_.size()) - 1;
    };
    for (LayerType const& type : objective.layers) {
      std::visit(
          [&](auto const& layer) {
            if constexpr (OneInput<std::remove_cvref_t<decltype(layer)>>)
              from = push(node_of(layer, from, shape()), layer);
          },
          type);
    }
    std::visit(
        [&](auto const& loss) {
          Shape const shapes[] = {shape(), loss.target_shape(shape())};
          target_ = push(Node{.shape = shapes[1]}, Flatten{});
          int const inputs[] = {from, target_};
          Node node = node_of(loss, inputs, shapes);
          node.closed |= 2u;
          push(node, loss);
        },
        objective.loss);
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
          } else if constexpr (std::is_same_v<L, CustomNode>) {
            auto op = layer.layer->op(CustomNode::is_reference<Backend>, layer_key(layer, seed, names_[node]));
            ops_.push_back(op.erased);
            op_storage_.push_back(std::move(op.owner));
          }
        },
        layers_[node]);
  }

  template <class Backend>
  void add_join(Backend const& backend, std::size_t node) {
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (JoinLayer<L>) {
            auto op = std::make_shared<decltype(layer.join())>(layer.join());
            joins_.back() = backend.template erased_join<L>();
            joins_.back().op = op.get();
            op_storage_.push_back(std::move(op));
          }
        },
        layers_[node]);
  }

  Graph const& graph_;
  PlanOptions options_;
  std::vector<GraphLayer> layers_;
  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::vector<int> first_parameter_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;
  PlanSummary plan_;
  std::vector<Slot> slots_;
  Index parameter_size_ = 0;
  Index scratch_ = 0, worker_scratch_ = 0;
  std::vector<ErasedOp> ops_;
  std::vector<std::size_t> first_op_;
  std::vector<std::shared_ptr<void const>> op_storage_;
  std::vector<ErasedJoin> joins_;
  std::vector<Shape> shapes_;  // the input shapes of each node
  std::vector<std::size_t> first_shape_;
  int target_ = -1;
};
static_assert(concepts::Program<Program, coldpress::detail::ExampleBackend>);

}  // namespace coldpress::dynamic
