// Trainer: minibatches, steps, and what is done in between.
#pragma once

#include <coldpress/data/prefetcher.hpp>
#include <coldpress/data/transform.hpp>
#include <coldpress/train/callback.hpp>
#include <coldpress/train/solver.hpp>
#include <coldpress/train/statistics.hpp>
#include <coldpress/train/weight_average.hpp>

namespace coldpress::train {

struct TrainerOptions {
  Index epochs = 1;
  std::uint64_t steps = 0;  // the most steps, counted from the solver's first; 0: as many as the epochs have
  Index batch = 64;
  std::uint64_t seed = 0;            // of the order of the data
  Index prefetch = 4;                // how many minibatches a thread reads ahead; 0: no thread
  WeightAverage average = {};        // of the weights; it is what is validated and saved
  data::Transforms transforms = {};  // of samples before the network; saved with it
  std::uint64_t record_every = 0;    // steps for each value of training/loss; 0: about 400 values in all
  Communicator* ranks = nullptr;     // which train together; borrowed. Each reads its part of a minibatch alone
  double (*clock)() = nullptr;       // seconds since any moment, by which callbacks are due; null: the steady clock
};

/// Trains with a solver of a network type or of a config. Between two steps it calls the callbacks that are due, in
/// the order in which they were added; those that report come after them, and those that save last. If a callback, a
/// step or the data throws, run() throws that, the solver is as it was between two steps, and run() can be called
/// again. A step that threw is then tried again.
///
/// On several ranks, each has a trainer with the same options and callbacks, but for those that only write. The trainer
/// divides the solver's steps among them, and each reads only the samples that it computes. Rank 0's clock decides
/// after which step a callback is due, so it is the same step on all.
///
/// The trainer adds these statistics: training/loss, its mean since the last value; for each epoch training/loss_epoch
/// and, if the targets are labels, training/accuracy; and learning_rate, with training/loss.
class Trainer {
 public:
  /// Trains on the samples of `source` in a random order, after transforms that data::fit completes. Solver and source
  /// are borrowed. Throws ConfigError for options that make no sense, what data::fit and data::transformed throw, what
  /// check_samples and check_arrays throw for the samples after the transforms, and what the solver's distribute_over
  /// throws if there are ranks.
  template <class Solver>
  Trainer(Solver& solver, data::Source const& source, TrainerOptions options = {})
      : Trainer(any_solver(solver), data::shuffled(source, options.seed), fitted(std::move(options), source)) {
    check_arrays(solver_->inputs(), *data::transformed(source, options_.transforms));
    classes_ = source.description().classes;
  }
  /// The same on any stream of samples. Its transforms must have all statistics.
  template <class Solver>
  Trainer(Solver& solver, std::unique_ptr<data::SampleStream> stream, TrainerOptions options = {})
      : Trainer(any_solver(solver), std::move(stream), options) {}
  Trainer(std::unique_ptr<AnySolver> solver, std::unique_ptr<data::SampleStream> stream, TrainerOptions options);
  Trainer(Trainer const&) = delete;
  ~Trainer();

  /// Adds something that is called with this trainer: a function, or an object with a name and a state. Returns the
  /// trainer's own copy, which lives as long as the trainer. Throws ConfigError if another one has the same name, and
  /// while the trainer runs.
  template <Callback C>
  C& every(When when, C callback) {
    auto added = std::make_unique<detail::CallbackOf<C>>(when, std::move(callback));
    C& result = added->callback;
    add(std::move(added));
    return result;
  }

  /// Trains until all epochs or steps are done, or a callback has called stop(). Then the weights must be finite, and
  /// callbacks for the end are called. Throws DivergenceError; MismatchError if ranks have other callbacks of those
  /// that belong on all.
  void run();
  /// Ends run() after the callbacks of this step. The next run() goes on.
  void stop(std::string why);
  /// Why the last run() ended early; empty if it did not.
  std::string const& stopped() const { return why_; }
  bool ended() const { return ended_; }  // whether callbacks are called for the end

  // What callbacks read and change.
  AnySolver& solver() { return *solver_; }
  AnySolver const& solver() const { return *solver_; }
  std::uint64_t iteration() const { return solver_->iteration(); }
  TrainerOptions const& options() const { return options_; }
  /// How many epochs are done, with the fraction of the current one.
  double epochs_done() const;
  /// The same after an earlier iteration.
  double epochs_done_at(std::uint64_t iteration) const;
  /// The samples of all epochs, and how many of them are done.
  Index samples() const;
  Index samples_done() const;
  /// The minibatch of the last step, of which a rank has read a part, and the mean loss before it.
  data::Batches::Batch const& batch() const { return batch_; }
  double loss() const { return last_loss_; }
  /// Whether targets of this shape are classes, as labels or one-hot, so that there is an accuracy.
  bool has_classes(Shape const& targets) const;
  /// The means over the current epoch so far, or over the whole epoch after its last step.
  Score epoch_score() const;
  Statistics& statistics() { return statistics_; }
  Statistics const& statistics() const { return statistics_; }
  /// How good the network is, with the average of its weights if there is one. The transforms are applied to the
  /// source. Throws MismatchError if its classes have other names than those of the training.
  Score evaluate(data::Source const& source,
                 std::function<void(data::Batches::Batch const&, Values)> const& each = {}) {
    return judge(source, each, nullptr);
  }
  /// The same, divided among the ranks if there are any. All of them must call it.
  Score evaluate_together(data::Source const& source) { return judge(source, {}, options_.ranks); }
  /// The network, with the average of its weights if there is one, its transforms and the names of its classes.
  persist::Model model() const;
  /// Replaces the weights, all or none, and forgets their average. Throws as persist::weights_of_type does.
  void load(persist::Model const& model);
  /// The seconds in all steps of this run, and for how many of them they have waited for data.
  double seconds() const { return seconds_; }
  double seconds_waited() const { return batches_.seconds_waited(); }

  /// From this, resume continues as if nothing had happened: solver, position in the data, statistics, and the states
  /// of the callbacks. `data` and `monitoring` are left to the caller. At the end of a training, StopEarly loads the
  /// best weights; to go on from where it was, use a Snapshot, which comes before.
  persist::Checkpoint checkpoint() const;
  /// Callbacks get their states by their names, so add them before; states that belong to none are kept for the next
  /// checkpoint. Either everything is restored or nothing. Throws MismatchError if the checkpoint is of another run, or
  /// of another number of samples.
  void resume(persist::Checkpoint const& checkpoint);

 private:
  data::Batches prepare(std::unique_ptr<data::SampleStream> stream);
  void count_hits();
  static TrainerOptions fitted(TrainerOptions options, data::Source const& source);
  void add(std::unique_ptr<detail::AnyCallback> callback);
  bool done() const;
  void step();
  void record();
  Score judge(data::Source const& source, std::function<void(data::Batches::Batch const&, Values)> const& each,
              Communicator* ranks);
  void compare_callbacks();
  double time() const;
  void call_due();
  template <class Due>
  void gather_for(Due due);
  persist::State state() const;
  void restore(persist::State const& state);

  std::unique_ptr<AnySolver> solver_;
  TrainerOptions options_;
  std::vector<std::string> classes_;
  Index epoch_size_;
  bool labels_ = false;
  Index microbatch_ = 0;            // of the solver, if there are ranks
  data::Batches::PartOf own_part_;  // of a minibatch, if there are ranks
  std::vector<Index> hits_;         // for each rank, in the last step: the samples that count, and those that are right
  data::Prefetcher batches_;
  std::vector<std::unique_ptr<detail::AnyCallback>> callbacks_;
  Statistics statistics_;
  detail::Averaged average_;
  data::Batches::Batch batch_{};
  double last_loss_ = 0, seconds_ = 0;
  Mean loss_, accuracy_;  // of the current epoch
  Mean recent_;           // of the losses since the last value of training/loss
  std::uint64_t record_every_ = 1;
  std::vector<persist::NamedState> unclaimed_;  // states of a checkpoint that belong to no callback
  bool epoch_over_ = false, ended_ = false, running_ = false;
  bool timed_ = false;                // whether a callback, on any rank, is due by the clock
  std::optional<std::string> asked_;  // to stop
  std::string why_;
};

}  // namespace coldpress::train
