// A training run: steps, progress, scores, checkpoints, and an end in good order whenever it comes.
#pragma once

#include "score.hpp"

#include <coldpress/data/batches.hpp>
#include <coldpress/data/chart.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/persist/network.hpp>

namespace coldpress::command {

/// What a run leaves behind.
struct Outputs {
  std::string save, checkpoint, report;  // the last two: empty where they are not wanted
  Index checkpoint_every = 0;            // steps; 0: after each epoch only
};

class Trainer {
 public:
  /// `run`: loss, data, epochs, batch and seed, and where in the data to begin. Solver, data and test data are
  /// borrowed. Throws ConfigError where that place is not in the data, and what saving would throw at the end, for
  /// network and checkpoint are encoded once as they are before the first step.
  Trainer(dynamic::Solver& solver, persist::Checkpoint const& run, data::Dataset const& training,
          data::Dataset const* test, Outputs outputs);

  /// Trains until all epochs are done, or `steps` steps where that is not 0, and writes the network. Throws
  /// DivergenceError when the loss or a weight is no longer finite, which is then in no file, and Error when the
  /// process is asked to end, after a last checkpoint. Where nobody reads stdout any more, it also ends, but only if
  /// there is a checkpoint to go on from.
  void train(std::uint64_t steps);

 private:
  void step();
  void add_point();
  void end_epoch();
  /// Tries each file, whatever becomes of the others, and then throws the first error. `all`: the network, too.
  void finish(bool all);
  persist::Model model() const;
  persist::Checkpoint checkpoint() const;
  void write_checkpoint();
  void write_report();
  std::string label() const;

  dynamic::Solver& solver_;
  persist::Checkpoint run_;
  data::Dataset const &training_, *test_;
  Outputs outputs_;
  data::Batches batches_;
  bool labels_;
  Index done_ = 0;  // samples, with those of earlier runs
  data::Progress progress_;
  std::optional<std::uint64_t> checkpointed_;  // at this step
  Mean loss_, accuracy_;                       // of the epoch under way
  Mean recent_loss_;                           // since the last point of its curve
  Index recent_ = 0;                           // steps since then
  Index steps_per_point_ = 1, epochs_per_point_ = 1;
  data::Curve loss_curve_{"training"}, test_loss_curve_{"test"}, accuracy_curve_{"training"},
      test_accuracy_curve_{"test"};
};

}  // namespace coldpress::command
