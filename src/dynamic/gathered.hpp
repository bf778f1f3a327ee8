// What the losses and statistics of a network from a config have gathered, and the losses of the last step.
#pragma once

#include "border.hpp"
#include "graph.hpp"

#include <coldpress/graph/node.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coldpress::dynamic {

template <class Backend>
class Gathered {
 public:
  Gathered(Graph const& graph, Border<Backend>& border)
      : graph_(graph),
        border_(border),
        trained_(border.template memory<Sums>()),
        evaluated_(border.template memory<Sums>()) {
    trained_.reserve(graph.sums), evaluated_.reserve(graph.sums);
  }
  /// Where training steps, or evaluations, add to.
  double* sums(Mode mode) { return of(mode).data(); }
  void reset(Mode mode) { border_.clear(of(mode)); }
  std::vector<std::pair<std::string, double>> statistics(Mode mode) const {
    std::vector<std::pair<std::string, double>> all;
    border_.read((mode == Mode::training ? trained_ : evaluated_).data(), graph_.sums, [&](double const* sums) {
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        std::visit(
            [&](auto const& part) {
              if constexpr (sums_of<std::remove_cvref_t<decltype(part)>>() > 0)
                all.emplace_back(graph_.names[i], report_of(part, sums + graph_.nodes[i].sums));
            },
            graph_.layers[i]);
      }
    });
    return all;
  }

  /// Of the last step; where they are still on a device, they are fetched.
  std::vector<std::pair<std::string, float>> const& losses() const {
    if (!settled_) {
      border_.settle_losses([&](std::span<float const> means) {
        for (std::size_t k = 0; k < losses_.size(); ++k) losses_[k].second = means[k];
      });
      settled_ = true;
    }
    return losses_;
  }
  /// A step begins; it adds its losses; and it has ended.
  void start_step() { border_.start_losses(), losses_.clear(), settled_ = true; }
  void add_loss(std::size_t node, float mean) {
    losses_.emplace_back(node < graph_.names.size() ? graph_.names[node] : std::string{}, mean);
  }
  void end_step() { settled_ = false; }
  /// An evaluation takes the place of the last step's losses.
  void start_evaluation() { losses(), border_.start_losses(); }

 private:
  using Sums = typename Border<Backend>::template Memory<double, AnyBatch, 0>;
  Sums& of(Mode mode) { return mode == Mode::training ? trained_ : evaluated_; }
  Graph const& graph_;
  Border<Backend>& border_;
  Sums trained_, evaluated_;
  mutable std::vector<std::pair<std::string, float>> losses_;
  mutable bool settled_ = true;  // they are known
};

}  // namespace coldpress::dynamic
