// Adapts the solver of a config: steps, weights, gradients of a minibatch, and checkpoints.
#include <coldpress/train/solver.hpp>

#include <coldpress/dynamic/describe.hpp>

#include <algorithm>
#include <optional>

namespace coldpress::train {
namespace {

class DynamicSolver final : public AnySolver {
 public:
  explicit DynamicSolver(dynamic::Solver& solver)
      : solver_(solver),
        inputs_(network_inputs(solver.network(), inputs_for(solver.config().objective.has_value()))),
        arrays_(inputs_) {}

  double train(Values samples, Values targets) override { return static_cast<double>(step(solver_, samples, targets)); }
  Values output() const override { return solver_.network().executable().output(); }
  Values predict(Values samples, Values targets) override { return judge().predict(samples, targets); }
  std::optional<double> loss(Values outputs, Values targets) override { return judge().loss(outputs, targets); }
  std::optional<double> own_loss() override { return judge().own_loss(); }
  std::vector<double> sums() override { return judge().sums(); }
  NamedValues statistics(std::span<double const> sums) override { return judge().statistics(sums); }
  std::vector<NetworkInput> const& inputs() const override { return inputs_; }
  Shape output_shape() const override { return solver_.network().output_shape(); }
  Description description() const override {
    return dynamic::description(solver_.network().config(), solver_.network().input_shape());
  }
  bool on_host() const override { return solver_.network().executable().device().empty(); }
  Index microbatch() const override { return std::as_const(solver_).options().microbatch; }
  void distribute_over(Communicator* communicator) override { solver_.distribute_over(communicator); }
  bool takes_labels() const override { return train::takes_labels(solver_.network(), solver_.config().objective); }
  bool has_labels(Shape const& targets) const override {
    return train::has_labels(solver_.network(), solver_.config().objective, targets);
  }

  std::uint64_t iteration() const override { return solver_.iteration(); }
  Index accumulate() const override { return solver_.config().accumulate; }
  float base_rate() const override {
    return std::visit([](auto const& optimizer) { return optimizer.learning_rate; },
                      std::as_const(solver_).options().optimizer);
  }
  void set_base_rate(float rate) override {
    std::visit([&](auto& optimizer) { optimizer.learning_rate = rate; }, solver_.options().optimizer);
  }
  float learning_rate() const override {
    auto const updates = iteration() / static_cast<std::uint64_t>(accumulate());
    return std::as_const(solver_).options().lr_policy.value(base_rate(), updates);
  }
  void check_finite() const override { solver_.check_finite(); }
  bool shards_optimizer() const override { return std::as_const(solver_).options().shard_optimizer; }
  void gather_state(bool on_all_ranks) override { solver_.gather_state(on_all_ranks); }

  persist::Model model() const override {
    return persist::model_of(solver_.network(), solver_.config().minibatch_size.value_or(1));
  }
  void load(persist::Model const& model) override {
    auto const weights = persist::weights_of_type(model, this->model().config);
    dynamic::Executable& executable = solver_.network().executable();
    for (std::size_t i = 0; i < weights.size(); ++i)
      executable.write(dynamic::Executable::data, static_cast<int>(i), weights[i]);
    solver_.network().weights_changed();
  }
  void read_weights(std::vector<std::vector<float>>& weights) const override {
    solver_.network().send_weights();
    dynamic::Executable const& executable = solver_.network().executable();
    weights.resize(executable.weights().size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i].resize(static_cast<std::size_t>(executable.weights()[i].shape.size()));
      executable.read(dynamic::Executable::data, static_cast<int>(i), weights[i]);
    }
  }
  bool gradients(Values samples, Values targets, std::vector<std::vector<float>>& gradients) override {
    solver_.network().send_weights();
    dynamic::Executable const& trained = solver_.network().executable();
    if (!beside_) beside_ = std::make_unique<dynamic::Solver>(network_beside(), solver_.config());
    dynamic::Executable& network = beside_->network().executable();
    gradients.resize(network.weights().size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      gradients[i].resize(static_cast<std::size_t>(network.weights()[i].shape.size()));
      trained.read(dynamic::Executable::data, static_cast<int>(i), gradients[i]);
      network.write(dynamic::Executable::data, static_cast<int>(i), gradients[i]);
    }
    network.set_step(trained.step() - 1);
    // The first of two minibatches of an update stores its gradients, and updates nothing yet.
    beside_->set_progress({});
    beside_->options() = {};
    beside_->options().accumulate = 2, beside_->options().check_every = 0;
    auto const& options = std::as_const(solver_).options();
    beside_->options().microbatch = options.microbatch;
    beside_->options().sync_batch_normalization = options.sync_batch_normalization;
    beside_->options().bfloat16_gradients = options.bfloat16_gradients;
    try {
      (void)static_cast<float>(step(*beside_, samples, targets));
    } catch (DivergenceError const&) {
      return false;
    }
    auto const of_first = static_cast<Index>(arrays_.of(samples, targets)[0].size());
    auto const count = static_cast<float>(of_first / solver_.network().input_shape().size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      network.read(dynamic::Executable::gradient, static_cast<int>(i), gradients[i]);
      for (float& value : gradients[i]) value /= count;
      if (network.weights()[i].is_statistic) gradients[i].clear();
    }
    return true;
  }
  persist::Checkpoint checkpoint() const override { return persist::checkpoint_of(std::as_const(solver_)); }
  void resume(persist::Checkpoint const& checkpoint) override { persist::resume(solver_, checkpoint); }

 private:
  dynamic::MeanLoss step(dynamic::Solver& solver, Values samples, Values targets) {
    auto const inputs = arrays_.of(samples, targets);
    return solver.config().objective ? solver.train_minibatch(inputs, targets) : solver.train_minibatch(inputs);
  }
  /// Another network that computes what the trained one does.
  dynamic::Layer network_beside() const {
    dynamic::Layer const& network = solver_.network();
    if (auto another = network.executable().another()) return {network.config(), std::move(another)};
    return dynamic::Layer::from_config(dynamic::Backend{}, network.config(), network.input_shape(),
                                       network.executable().seed());
  }
  Evaluated const& judge() {
    if (!judge_) judge_ = evaluated(solver_.mut_network(), solver_.config().objective);
    return *judge_;
  }
  dynamic::Solver& solver_;
  std::vector<NetworkInput> inputs_;
  InputArrays arrays_;
  std::unique_ptr<dynamic::Solver> beside_;  // computes gradients; made when first needed
  std::optional<Evaluated> judge_;
};

}  // namespace

Evaluated evaluated(AnySolver& solver) {
  return {.predict = [&solver](Values x, Values t) { return solver.predict(x, t); },
          .loss = [&solver](Values y, Values t) { return solver.loss(y, t); },
          .own_loss = [&solver] { return solver.own_loss(); },
          .sums = [&solver] { return solver.sums(); },
          .statistics = [&solver](std::span<double const> sums) { return solver.statistics(sums); }};
}

std::unique_ptr<AnySolver> any_solver(dynamic::Solver& solver) { return std::make_unique<DynamicSolver>(solver); }

}  // namespace coldpress::train
