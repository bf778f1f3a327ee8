// The program of a config on a backend, in tables for a TableProgram.
#pragma once

#include "program.hpp"

#include <coldpress/run/layer_functions.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <new>

namespace coldpress::dynamic {

/// The program on a backend, which determines the layout, and has the functions of layers and of pointwise operations.
template <class Backend>
class ProgramFor : public Program {
 public:
  ProgramFor(Graph const& graph, Backend const& backend, PlanOptions options, std::uint64_t seed,
             Objective const* objective = nullptr)
      : Program(graph, options, planned(options), objective) {
    if (!std::is_same_v<T, float> && graph.has_custom_layers())
      throw UnsupportedError{"network: a registered layer computes with floats"};
    graph.check_sharing([&](Parameter const& a, Parameter const& b) { return has_one_order(backend, a, b); });
    parameter_size_ = lay_out(backend, graph.parameters, graph.parameter_node, graph.owner, groups_, group_of_, slots_);
    for_each_group([&](int g) {
      Group const& group = this->group(g);
      keys_.emplace_back();
      head(
          g, [&](auto const& layer) { add_head(layer, g, seed); }, [] {});
      joins_.emplace_back();
      if (group.join >= 0) add_join(backend, static_cast<std::size_t>(group.join));
      first_operation_.push_back(static_cast<int>(ops_.size()));
      for (int i = 0; i < group.chain_length; ++i) add_op(backend, static_cast<std::size_t>(group.chain[i]), seed);
    });
    for (GraphLayer const& layer : layers_) {
      functions_.push_back(functions_of<LayerRoles{.losses = true}>(layer));
      functions_.back().layer = std::visit([](auto const& held) -> void const* { return &held; }, layer);
    }
    tables_ = {&plan_,
               nodes_.data(),
               groups_.data(),
               functions_.data(),
               {outputs_.data(), outputs_.size()},
               columns_.data() + inputs_capacity,
               shapes_.data(),
               first_shape_.data(),
               windows_.data(),
               first_operation_.data(),
               slots(),
               first_parameter_.data(),
               parameter_count()};
    passes_ = {tables_, ops_.data(), joins_.data(), keys_.data()};
  }

  /// What passes are given.
  TableProgram<Backend> const& passes() const { return passes_; }

  // Add the functions that training and streams call. Programs that ask for neither do not link them. Streams are made
  // while others play.
  void link_training() {
    std::call_once(has_training_, [&] {
      for (std::size_t i = 0; i < layers_.size(); ++i)
        functions_[i].gradient = functions_of<LayerRoles{.training = true}>(layers_[i]).gradient;
    });
  }
  void link_streams() {
    std::call_once(has_streams_, [&] {
      for (std::size_t i = 0; i < layers_.size(); ++i)
        functions_[i].stream = functions_of<LayerRoles{.streams = true}>(layers_[i]).stream;
    });
  }

 private:
  using T = typename Backend::Scalar;
  using LayerRoles = coldpress::detail::LayerRoles;
  using TableLayer = coldpress::detail::TableLayer<Backend>;
  template <LayerRoles roles, class... Layers>
  static TableLayer const& functions_of(std::variant<Layers...> const& layer) {
    static constexpr std::array all{of<roles, Layers>()...};
    return all[layer.index()];
  }
  /// Custom layers compute with floats.
  template <LayerRoles roles, class L>
  static constexpr TableLayer of() {
    if constexpr (std::is_same_v<L, CustomNode> && !std::is_same_v<T, float>) {
      return {};
    } else {
      return TableLayer::template of<roles, L>();
    }
  }
  static PlanOptions planned(PlanOptions options) {
    options.pitch = Backend::pitch;
    if (!keeps_blocks<Backend>) options.blocks = 0;
    options.adds_in_place = coldpress::adds_in_place<Backend>;
    return options;
  }
  template <class L>
  void add_head(L const& layer, int g, std::uint64_t seed) {
    Group const& group = this->group(g);
    PoolingGeometry const& windows = windows_[static_cast<std::size_t>(g)];
    auto const scratch = [&](int workers) {
      return scratch_of<Backend>(layer, head_inputs(g),
                                 {options_.training, group.passes_gradient(), planned(options_).blocks, workers,
                                  windows.planes * windows.out(), group.edges[0].adds_in_place()});
    };
    scratch_ = std::max(scratch_, scratch(1));
    worker_scratch_ = std::max(worker_scratch_, scratch(2) - scratch(1));
    keys_.back() = layer_key(layer, seed, names_[static_cast<std::size_t>(group.head)]);
  }
  /// The memory of the operation of a pointwise layer or a join.
  struct Operation {
    alignas(std::max_align_t) std::byte bytes[64];
  };
  template <class Op>
  Op const* keep(std::size_t node, Op const& op) {
    static_assert(sizeof(Op) <= sizeof(Operation) && alignof(Op) <= alignof(Operation));
    static_assert(std::is_trivially_destructible_v<Op>);
    return new (operations_[node].bytes) Op{op};
  }
  void add_op(Backend const& backend, std::size_t node, std::uint64_t seed) {
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (PointwiseLayer<L>) {
            ops_.push_back(backend.template erased<L>());
            ops_.back().op = keep(node, layer.op(layer_key(layer, seed, names_[node])));
          } else if constexpr (std::is_same_v<L, CustomNode> && std::is_same_v<T, float>) {
            auto op = layer.layer->op(CustomNode::is_reference<Backend>, layer_key(layer, seed, names_[node]));
            ops_.push_back(op.erased);
            custom_operations_.push_back(std::move(op.owner));
          }
        },
        layers_[node]);
  }

  void add_join(Backend const& backend, std::size_t node) {
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (JoinLayer<L>) {
            joins_.back() = backend.template erased_join<L>();
            joins_.back().op = keep(node, layer.join());
          }
        },
        layers_[node]);
  }

  std::vector<BasicErasedOp<T>> ops_;
  std::vector<int> first_operation_;
  std::vector<Operation> operations_ = std::vector<Operation>(layers_.size());  // by node
  std::vector<std::shared_ptr<void const>> custom_operations_;
  std::vector<BasicErasedJoin<T>> joins_;
  std::vector<std::uint64_t> keys_;
  std::vector<TableLayer> functions_;
  std::once_flag has_training_, has_streams_;
  coldpress::detail::ProgramTables<Backend> tables_;
  TableProgram<Backend> passes_;
};

}  // namespace coldpress::dynamic
