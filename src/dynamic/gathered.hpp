// The sums of the losses and statistics of a network from a config, and the losses of the last step.
#pragma once

#include "engine_transfer.hpp"
#include "graph.hpp"

#include <coldpress/graph/node.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coldpress::dynamic {

template <class Backend>
class Gathered {
 public:
  Gathered(Graph const& graph, EngineTransfer<Backend>& transfer)
      : graph_(graph),
        transfer_(transfer),
        trained_(transfer.template memory<Sums>()),
        evaluated_(transfer.template memory<Sums>()) {
    trained_.reserve(graph.sums), evaluated_.reserve(graph.sums);
  }
  /// The sums to which training steps, or evaluations, add.
  double* sums(Mode mode) { return of(mode).data(); }
  void reset(Mode mode) { transfer_.clear(of(mode)); }
  std::vector<double> read_sums(Mode mode) const {
    std::vector<double> all;
    transfer_.read((mode == Mode::training ? trained_ : evaluated_).data(), graph_.sums,
                   [&](double const* sums) { all.assign(sums, sums + graph_.sums); });
    return all;
  }
  std::vector<std::pair<std::string, double>> statistics_of(std::span<double const> sums) const {
    std::vector<std::pair<std::string, double>> all;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::visit(
          [&](auto const& part) {
            if constexpr (sums_of<std::remove_cvref_t<decltype(part)>>() > 0)
              all.emplace_back(graph_.names[i], report_of(part, sums.data() + graph_.nodes[i].sums));
          },
          graph_.layers[i]);
    }
    return all;
  }

  /// The losses of the last step. They are fetched if they are still on a device.
  std::vector<std::pair<std::string, float>> const& losses() const {
    if (!settled_) {
      transfer_.settle_losses([&](std::span<float const> means) {
        for (std::size_t k = 0; k < losses_.size(); ++k) losses_[k].second = means[k];
      });
      settled_ = true;
    }
    return losses_;
  }
  /// Called when a step begins, for each of its losses, and when it has ended.
  void start_step() { transfer_.start_losses(), losses_.clear(), settled_ = true; }
  void add_loss(std::size_t node, float mean) {
    losses_.emplace_back(node < graph_.names.size() ? graph_.names[node] : std::string{}, mean);
  }
  void end_step() { settled_ = false; }
  /// An evaluation replaces the losses of the last step.
  void start_evaluation() { losses(), transfer_.start_losses(); }

 private:
  using Sums = typename EngineTransfer<Backend>::template Memory<double, DynamicBatch, 0>;
  Sums& of(Mode mode) { return mode == Mode::training ? trained_ : evaluated_; }
  Graph const& graph_;
  EngineTransfer<Backend>& transfer_;
  Sums trained_, evaluated_;
  mutable std::vector<std::pair<std::string, float>> losses_;
  mutable bool settled_ = true;  // whether they are known
};

}  // namespace coldpress::dynamic
