// The average of the weights over the updates of a training.
#pragma once

#include <coldpress/optim/monitoring.hpp>
#include <coldpress/train/solver.hpp>

namespace coldpress::train::detail {

/// Keeps what WeightAverage describes. Before the first value, it is the weights themselves.
class Averaged {
 public:
  explicit Averaged(WeightAverage kind = {}) : kind_(kind) {}
  /// After a step. `updated` says whether it changed the weights, `epoch` counts the epochs that are done if it was
  /// the last one of an epoch, and is otherwise 0.
  void add(AnySolver const& solver, bool updated, Index epoch);
  bool empty() const { return count_ == 0; }
  /// The model with the averages in place of its weights.
  persist::Model applied(persist::Model model) const;

  /// Throws MismatchError unless the state is that of an average of this kind over these weights.
  void restore(persist::State const& state, persist::Model const& model);
  persist::State state(persist::Model const& model) const;

 private:
  WeightAverage kind_;
  std::uint64_t count_ = 0;                           // of the values that were averaged
  std::vector<std::vector<float>> average_, latest_;  // in the order of the model's weights
};

}  // namespace coldpress::train::detail
