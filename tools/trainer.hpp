// A training run: steps, progress, scores and checkpoints, and an orderly end whenever it comes.
#pragma once

#include "score.hpp"

#include <coldpress/data/chart.hpp>
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/persist/network.hpp>

namespace coldpress::command {

/// The files that a run writes.
struct Outputs {
  std::string save, checkpoint, report;  // checkpoint and report are empty if they are not wanted
  Index checkpoint_every = 0;            // in steps; 0: only after each epoch
};

class Trainer {
 public:
  /// `run` has the loss, data, epochs, batch and seed, and where in the data to begin. Solver, data and test data are
  /// borrowed. A thread reads `prefetch` minibatches ahead. Throws ConfigError if that position is not in the data.
  /// Also throws what saving would throw at the end, because network and checkpoint are encoded once before the first
  /// step.
  Trainer(dynamic::Solver& solver, persist::Checkpoint const& run, data::Source const& training,
          data::Source const* test, Outputs outputs, Index prefetch);

  /// Trains until all epochs are done, or until `steps` steps if that is not 0, and writes the network. Throws
  /// DivergenceError if the loss or a weight is no longer finite, which is then not written to any file. Throws Error
  /// if the process is asked to end, after writing a last checkpoint. If stdout is no longer read, the training also
  /// ends, but only if there is a checkpoint to continue from.
  void train(std::uint64_t steps);

 private:
  void step();
  void add_point();
  void end_epoch();
  /// Tries to write each file even if others fail, and then throws the first error. `all` includes the network.
  void finish(bool all);
  persist::Model model() const;
  persist::Checkpoint checkpoint() const;
  void write_checkpoint();
  void write_report();
  std::string label() const;

  dynamic::Solver& solver_;
  persist::Checkpoint run_;
  data::Source const &training_, *test_;
  Outputs outputs_;
  data::Prefetcher batches_;
  bool labels_;
  double seconds_ = 0;  // of all steps, with what they waited for data
  Index done_ = 0;      // number of samples, including those of earlier runs
  data::Progress progress_;
  std::optional<std::uint64_t> checkpointed_;  // the step of the last checkpoint
  Mean loss_, accuracy_;                       // of the current epoch
  Mean recent_loss_;                           // since the last point of its curve
  Index recent_ = 0;                           // number of steps since then
  Index steps_per_point_ = 1, epochs_per_point_ = 1;
  data::Curve loss_curve_{"training"}, test_loss_curve_{"test"}, accuracy_curve_{"training"},
      test_accuracy_curve_{"test"};
};

}  // namespace coldpress::command
