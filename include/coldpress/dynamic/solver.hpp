// Solver, with the interface of Juice's: a network, an objective, and how they are trained.
#pragma once

#include <coldpress/dynamic/layer.hpp>

namespace coldpress::dynamic {

/// The mean loss of a network's last training step, before its update. It is read only when it is converted to a
/// number, so that not every step has to wait for a GPU. After further steps it is that of the last one. It must not
/// outlive the solver. For a step on a GPU, reading it throws DivergenceError if it is infinite or NaN.
class MeanLoss {
 public:
  MeanLoss(Executable const& network, Progress const& progress) : network_(&network), progress_(&progress) {}
  operator float() const;

 private:
  Executable const* network_;
  Progress const* progress_;
};

class Solver {
 public:
  /// Builds the network and the objective of the config. Without an objective, the network must have losses of its own.
  /// The objective is computed where the network is: a second backend is accepted, as in Juice, but not used. Throws
  /// ConfigError if one of them is missing or a number is not valid.
  static Solver from_config(Backend const& network_backend, Backend const& objective_backend, SolverConfig config,
                            std::optional<Shape> input = {}, std::uint64_t seed = 0);
  static Solver from_config(Backend const& backend, SolverConfig config, std::optional<Shape> input = {},
                            std::uint64_t seed = 0) {
    return from_config(backend, backend, std::move(config), input, seed);
  }
  /// Trains an existing network. The network in the config is ignored.
  Solver(Layer network, SolverConfig config);

  /// Takes one step, fused if the network supports it, and returns the network's output, like Layer::forward. The batch
  /// size is the first extent of x. Throws DataError for labels that are not a class and, unless options().check_every
  /// is 0, for values that are not finite; then nothing has changed. Throws DivergenceError if the loss is not finite,
  /// and then only statistics have changed, or if a weight is not finite after the step (see options().check_every). It
  /// does not wait for a step on a GPU: there the loss is checked when it is read, and weights are checked by
  /// check_finite.
  SharedTensor const& train_minibatch(SharedTensor const& x, SharedTensor const& targets) {
    return train_minibatch(std::span{&x, 1}, targets);
  }
  /// For a network with several inputs.
  SharedTensor const& train_minibatch(std::span<SharedTensor const> inputs, SharedTensor const& targets);
  /// For a network that has its own losses and takes their targets as inputs.
  SharedTensor const& train_minibatch(std::span<SharedTensor const> inputs);
  MeanLoss train_minibatch(std::span<Values const> inputs) { return train(inputs, {}); }
  /// The same for samples one after another. Returns the mean loss before the step.
  MeanLoss train_minibatch(Values x, Values targets) { return train(std::span{&x, 1}, targets); }
  MeanLoss train_minibatch(std::span<Values const> inputs, Values targets) { return train(inputs, targets); }
  /// Throws DivergenceError if a weight of the network is not finite. It is called before a checkpoint of this solver
  /// is written.
  void check_finite() const;
  /// The mean loss of the last step, before its update.
  float loss() const { return network_.executable().loss(); }
  /// The same for each loss, with its name, which is empty for the objective.
  std::vector<std::pair<std::string, float>> const& losses() const { return network_.executable().losses(); }

  /// Like those of Layer, but over the training steps.
  std::vector<std::pair<std::string, double>> statistics() const {
    return network_.executable().statistics(Mode::training);
  }
  void reset_statistics() { network_.executable().reset_statistics(Mode::training); }

  Layer const& network() const { return network_; }
  Layer& mut_network() { return network_; }
  /// The same as for the network; see Layer::freeze.
  void freeze(std::string const& name) { network_.freeze(name); }
  void unfreeze(std::string const& name) { network_.unfreeze(name); }
  void freeze_all() { network_.freeze_all(); }
  void unfreeze_all() { network_.unfreeze_all(); }
  SolverConfig const& config() const { return config_; }
  /// The options, which may all be changed between steps. The optimizer's learning rate and momentum are those that
  /// lr_policy and momentum_policy start from. A checkpoint has the optimizer, the policies and `accumulate`
  /// as they are when it is written; the rest is the config's, and so is the learning rate, unless the optimizer is of
  /// another kind.
  TrainingOptions& options() { return options_; }
  TrainingOptions const& options() const { return options_; }

  /// Divides the parts (SolverConfig::microbatch) of each step among the ranks of a communicator, which is borrowed;
  /// null: this process computes them all. Each rank calls train_minibatch with the whole minibatch, and gets the bits
  /// that one process would get, whatever the number of ranks. The ranks must have begun with the same weights
  /// (distributed::start compares them). Throws ConfigError without a microbatch, and UnsupportedError for a network on
  /// a device; training an adapted network then throws UnsupportedError.
  void distribute_over(Communicator* communicator);
  /// With options().shard_optimizer, all ranks call this before the state is read on rank 0, or on all of them, as for
  /// a checkpoint: it is known there until the next step. Otherwise it does nothing.
  void gather_state(bool on_all_ranks = false);
  /// Sets the optimizer's state to zero, also if it was divided among ranks. All of them must do so.
  void clear_state();

  /// The number of minibatches so far. A checkpoint holds the progress, the optimizer's state and, if minibatches wait
  /// for their update, the gradients, in addition to the weights.
  std::uint64_t iteration() const { return progress().minibatches; }
  Progress progress() const { return network_.executable(), *progress_; }  // executable() throws if there is no network
  void set_progress(Progress progress) { network_.executable(), *progress_ = progress; }
  int state_count() const;
  /// Whether the optimizer in options() is of another kind than that of the last step. The next step clears its state.
  bool has_other_state() const { return options_.optimizer.index() != optimizer_; }

 private:
  MeanLoss train(std::span<Values const> inputs, Values targets, Homes homes = nullptr);
  void check_samples(std::span<Values const> inputs, Values targets, Homes homes) const;
  SharedTensor const& train_tensors(std::span<SharedTensor const> inputs, SharedTensor const* targets);

  Layer network_;
  SolverConfig config_;
  std::optional<Objective> objective_;
  TrainingOptions options_;
  // On the heap, so that a MeanLoss finds it after the solver is moved.
  std::unique_ptr<Progress> progress_ = std::make_unique<Progress>();
  Index target_size_ = 0;
  std::size_t optimizer_ = 0;  // the kind of optimizer that the state belongs to
};

}  // namespace coldpress::dynamic
