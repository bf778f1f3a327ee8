// Juice's Solver: a network, an objective, and how they are trained.
#pragma once

#include <coldpress/dynamic/layer.hpp>

namespace coldpress::dynamic {

/// The mean loss of a network's last training step, before its update. It is read where it becomes a number: a GPU need
/// not be waited for in every step. Read after more steps, it is that of the last of them. Of a step on a GPU that
/// throws DivergenceError where it is infinite or NaN.
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
  /// Builds network and objective of the config; without an objective, the network has its losses. The objective is
  /// computed where the network is: Juice's second backend is taken and not used. Throws ConfigError where one is
  /// missing or a number makes no sense.
  static Solver from_config(Backend const& network_backend, Backend const& objective_backend, SolverConfig config,
                            std::optional<Shape> input = {}, std::uint64_t seed = 0);
  static Solver from_config(Backend const& backend, SolverConfig config, std::optional<Shape> input = {},
                            std::uint64_t seed = 0) {
    return from_config(backend, backend, std::move(config), input, seed);
  }
  /// Trains a network that is there already; the config's own is not looked at.
  Solver(Layer network, SolverConfig config);

  /// One step, fused where the network can; returns the network's output, as Layer's forward does. The batch is the
  /// first extent of x. Throws DataError for labels that are no class, and for values in the host's memory that are not
  /// finite; then nothing has changed. Throws DivergenceError where the loss is not finite, and then has changed no
  /// more than the statistics; or where a weight is found to be so after the step (options().check_every). No step on a
  /// GPU is waited for: there the loss is checked where it is read, and weights by check_finite.
  SharedTensor const& train_minibatch(SharedTensor const& x, SharedTensor const& targets) {
    return train_minibatch(std::span{&x, 1}, targets);
  }
  /// For a network with several inputs.
  SharedTensor const& train_minibatch(std::span<SharedTensor const> inputs, SharedTensor const& targets);
  /// For a network that has its losses, and among its inputs what they compare.
  SharedTensor const& train_minibatch(std::span<SharedTensor const> inputs);
  MeanLoss train_minibatch(std::span<Values const> inputs) { return train(inputs, {}); }
  /// The same on samples one after another; returns the mean loss before the step.
  MeanLoss train_minibatch(Values x, Values targets) { return train(std::span{&x, 1}, targets); }
  /// Throws DivergenceError if a weight of the network is not finite. A checkpoint of this solver asks first.
  void check_finite() const;
  /// Mean loss of the last step, before its update.
  float loss() const { return network_.executable().loss(); }
  /// The same of each loss by its name; that of the objective has none.
  std::vector<std::pair<std::string, float>> const& losses() const { return network_.executable().losses(); }

  /// As Layer's, but of training steps.
  std::vector<std::pair<std::string, double>> statistics() const {
    return network_.executable().statistics(Mode::training);
  }
  void reset_statistics() { network_.executable().reset_statistics(Mode::training); }

  Layer const& network() const { return network_; }
  Layer& mut_network() { return network_; }
  /// As its network's; see Layer::freeze.
  void freeze(std::string const& name) { network_.freeze(name); }
  void unfreeze(std::string const& name) { network_.unfreeze(name); }
  void freeze_all() { network_.freeze_all(); }
  void unfreeze_all() { network_.unfreeze_all(); }
  SolverConfig const& config() const { return config_; }
  /// All of them may change between steps. The optimizer's learning rate is the one that lr_policy starts from.
  TrainingOptions& options() { return options_; }

  /// Minibatches done. With the optimizer's states and, while samples wait for their update, the gradients, progress is
  /// what a checkpoint holds beside the weights.
  std::uint64_t iteration() const { return progress().minibatches; }
  Progress progress() const { return network_.executable(), *progress_; }  // which throws where there is no network
  void set_progress(Progress progress) { network_.executable(), *progress_ = progress; }
  int state_count() const;

 private:
  MeanLoss train(std::span<Values const> inputs, Values targets, Homes homes = nullptr);
  void check_samples(std::span<Values const> inputs, Values targets, Homes homes) const;
  SharedTensor const& train_tensors(std::span<SharedTensor const> inputs, SharedTensor const* targets);

  Layer network_;
  SolverConfig config_;
  std::optional<Objective> objective_;
  TrainingOptions options_;
  // On the heap, where a MeanLoss finds it, whoever has the solver.
  std::unique_ptr<Progress> progress_ = std::make_unique<Progress>();
  Index target_size_ = 0;
  std::size_t optimizer_ = 0;  // the kind that the state is of
};

}  // namespace coldpress::dynamic
