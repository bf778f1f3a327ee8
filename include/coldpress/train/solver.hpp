// A solver with its type erased, so that one trainer serves network types and configs.
#pragma once

#include <coldpress/persist/network.hpp>
#include <coldpress/train/gradient_pass.hpp>
#include <coldpress/train/input_arrays.hpp>
#include <coldpress/train/score.hpp>
#include <coldpress/typed/describe.hpp>

#include <algorithm>
#include <memory>

namespace coldpress::train {

/// What a Trainer needs of a solver. Returned spans are valid until the next call.
class AnySolver {
 public:
  virtual ~AnySolver() = default;

  /// Takes a step on samples and their targets and returns the mean loss before it. Throws what the solver's
  /// train_minibatch throws.
  virtual double train(Values samples, Values targets) = 0;
  /// The network's first output in the last step.
  virtual Values output() const = 0;
  /// The network's first output for samples in inference mode. Targets matter only to losses inside the network.
  virtual Values predict(Values samples, Values targets) = 0;
  /// The mean loss of outputs; nothing without an objective.
  virtual std::optional<double> loss(Values outputs, Values targets) = 0;
  /// The sum of the network's own mean losses over the samples of the last predict; nothing if it has none.
  virtual std::optional<double> own_loss() = 0;
  /// The sums of the network's own losses and statistics over the samples of the last predict, and what the sums of one
  /// or several minibatches give: the statistics, NaN without a sample.
  virtual std::vector<double> sums() = 0;
  virtual NamedValues statistics(std::span<double const> sums) = 0;
  /// The inputs, each of which belongs to samples or to targets.
  virtual std::vector<NetworkInput> const& inputs() const = 0;
  virtual Shape output_shape() const = 0;
  /// The plan for inference.
  virtual Description description() const = 0;
  /// Whether the network computes in the host's memory.
  virtual bool on_host() const = 0;
  /// The samples of a part of a minibatch; 0: it is computed at once.
  virtual Index microbatch() const = 0;
  /// Divides the parts of each step among the ranks of a communicator, which is borrowed. Throws as the solver does.
  virtual void distribute_over(Communicator* communicator) = 0;
  /// Whether a loss takes class numbers from the targets.
  virtual bool takes_labels() const = 0;
  /// Whether targets of this shape are classes of the first output, one for each sample.
  virtual bool has_labels(Shape const& targets) const = 0;

  /// The number of steps.
  virtual std::uint64_t iteration() const = 0;
  /// How many steps make an update.
  virtual Index accumulate() const = 0;
  /// The rate from which the policy computes that of a step, and that of the next step.
  virtual float base_rate() const = 0;
  virtual void set_base_rate(float rate) = 0;
  virtual float learning_rate() const = 0;
  /// Throws DivergenceError if a weight is not finite.
  virtual void check_finite() const = 0;
  /// Whether ranks divide the optimizer's state. Then all of them call gather_state before a checkpoint is made on rank
  /// 0, or on all ranks.
  virtual bool shards_optimizer() const = 0;
  virtual void gather_state(bool on_all_ranks) = 0;

  /// The network with its weights. `batch` is described at persist::model_of.
  virtual persist::Model model() const = 0;
  /// Replaces the weights by those of a model of the same network, all or none. Throws as weights_of_type does.
  virtual void load(persist::Model const& model) = 0;
  /// Copies all weights, in the order of the model's, and allocates only if `weights` does not fit.
  virtual void read_weights(std::vector<std::vector<float>>& weights) const = 0;
  /// Computes the gradients of the mean loss of a minibatch at the current weights, in the same order, with the random
  /// numbers of the last step: none for a running statistic, and zeros for a weight that no gradient reaches. This
  /// takes a forward and a backward pass, whose memory it keeps, and changes nothing else. Returns false, without
  /// gradients, if the loss is not finite.
  virtual bool gradients(Values samples, Values targets, std::vector<std::vector<float>>& gradients) = 0;
  virtual persist::Checkpoint checkpoint() const = 0;
  /// See persist::resume.
  virtual void resume(persist::Checkpoint const& checkpoint) = 0;
};

namespace detail {
/// The mean loss of outputs of this shape, in double precision.
template <Loss L>
double mean_loss(L const& loss, Shape const& shape, Values y, Values t) {
  L const own = loss_for(loss, shape);
  auto const outputs = static_cast<std::size_t>(shape.size());
  auto const targets = static_cast<std::size_t>(loss.target_shape(shape).size());
  std::size_t const samples = y.size() / outputs;
  double sum = 0;
  std::vector<float> gradient(SampleLoss<L> ? outputs : 0);
  for (std::size_t n = 0; n < samples; ++n) {
    auto const of_sample = y.subspan(n * outputs, outputs), wanted = t.subspan(n * targets, targets);
    if constexpr (!ElementLoss<L>) {
      sum += static_cast<double>(
          own.sample(shape, of_sample.data(), wanted.data(), gradient.data(), static_cast<float*>(nullptr)));
    } else if constexpr (L::target == Target::label) {
      sum += own.value(static_cast<double>(of_sample[static_cast<std::size_t>(wanted[0])]), 1.0);
    } else {
      for (std::size_t i = 0; i < outputs; ++i)
        sum += own.value(static_cast<double>(of_sample[i]), static_cast<double>(wanted[i]));
    }
  }
  return sum / static_cast<double>(samples);
}

template <class S>
class TypedSolver final : public AnySolver {
  using Net = std::remove_cvref_t<decltype(std::declval<S&>().network())>;
  using L = std::remove_cvref_t<decltype(S::objective)>;
  static constexpr bool has_objective = Loss<L>, has_own = Net::Graph::sums > 0;  // losses or statistics
  static_assert(std::is_same_v<typename Net::T, float>, "Trainer: the network must compute in float");
  static_assert(std::is_empty_v<typename Net::Transfer>, "Trainer: takes network types in the host's memory");

 public:
  explicit TypedSolver(S& solver)
      : solver_(solver), inputs_(network_inputs(description(), inputs_for(has_objective))), arrays_(inputs_) {}

  double train(Values samples, Values targets) override {
    auto const x = arrays(samples, targets);
    if constexpr (has_objective) {
      return static_cast<double>(solver_.train_minibatch(x, targets));
    } else {
      return static_cast<double>(solver_.train_minibatch(x));
    }
  }
  Values output() const override { return values_of(solver_.output()); }
  Values predict(Values samples, Values targets) override {
    auto const x = arrays(samples, targets);
    if constexpr (has_own) {
      evaluation_.reset();
      return values_of(solver_.network().evaluate(x, evaluation_));
    } else {
      return values_of(std::apply([&](auto... each) { return solver_.network().forward(each...); }, x));
    }
  }
  std::optional<double> loss(Values outputs, Values targets) override {
    if constexpr (has_objective) {
      return mean_loss(S::objective, Net::output_shape, outputs, targets);
    } else {
      return {};
    }
  }
  std::optional<double> own_loss() override {
    if constexpr (Net::Graph::has_losses) {
      double sum = 0;
      for (auto const& [name, value] : own<Node::Kind::loss>(sums())) sum += value;
      return sum;
    } else {
      return {};
    }
  }
  std::vector<double> sums() override {
    std::vector<double> all(static_cast<std::size_t>(Net::Graph::sums));
    if constexpr (has_own) evaluation_.read_sums(all.data());
    return all;
  }
  NamedValues statistics(std::span<double const> sums) override { return own<Node::Kind::statistic>(sums); }
  std::vector<NetworkInput> const& inputs() const override { return inputs_; }
  Shape output_shape() const override { return Net::output_shape; }
  Description description() const override { return coldpress::description(solver_.network()); }
  bool on_host() const override { return true; }
  Index microbatch() const override { return S::options.microbatch; }
  void distribute_over([[maybe_unused]] Communicator* communicator) override {
    if constexpr (S::options.microbatch > 0) {
      solver_.distribute_over(communicator);
    } else {
      throw ConfigError{"Trainer: ranks share the parts of a minibatch; set SolverOptions::microbatch"};
    }
  }
  bool takes_labels() const override { return has_objective ? Labelled<L> : use_of_labels().labels; }
  bool has_labels(Shape const& targets) const override {
    return targets.size() == 1 && (has_objective ? Labelled<L> : use_of_labels().of_output);
  }

  std::uint64_t iteration() const override { return solver_.progress().minibatches; }
  Index accumulate() const override { return S::options.accumulate; }
  float base_rate() const override { return solver_.optimizer().learning_rate; }
  void set_base_rate(float rate) override { solver_.optimizer().learning_rate = rate; }
  float learning_rate() const override {
    return S::options.lr_policy.value(base_rate(), iteration() / static_cast<std::uint64_t>(S::options.accumulate));
  }
  void check_finite() const override { solver_.check_finite(); }
  bool shards_optimizer() const override { return S::options.shard_optimizer; }
  void gather_state(bool on_all_ranks) override { solver_.gather_state(on_all_ranks); }

  persist::Model model() const override { return persist::model_of(solver_.network()); }
  void load(persist::Model const& model) override { persist::load_model(solver_.network(), model); }
  void read_weights(std::vector<std::vector<float>>& weights) const override {
    weights.resize(static_cast<std::size_t>(Net::weight_count));
    for (int i = 0; i < Net::weight_count; ++i) {
      auto& values = weights[static_cast<std::size_t>(i)];
      values.resize(static_cast<std::size_t>(Net::weight_shape(i).size()));
      solver_.network().read_weight(i, values);
    }
  }
  bool gradients(Values samples, Values targets, std::vector<std::vector<float>>& gradients) override {
    if (!pass_) pass_ = std::make_unique<GradientPass<S>>();
    std::array<Values, S::Program::inputs_capacity> inputs;
    std::ranges::copy(arrays_.of(samples, targets), inputs.begin());
    if constexpr (has_objective) inputs.back() = targets;
    if (!pass_->compute(solver_, inputs)) return false;
    gradients.resize(static_cast<std::size_t>(Net::weight_count));
    auto const count = static_cast<float>(static_cast<Index>(inputs[0].size()) / Net::input_shape.size());
    for (int i = 0; i < Net::weight_count; ++i) {
      auto& values = gradients[static_cast<std::size_t>(i)];
      values.clear();
      if (Net::weight(i).is_statistic()) continue;
      values.resize(static_cast<std::size_t>(Net::weight_shape(i).size()));
      solver_.network().read(pass_->gradients(), i, values);
      for (float& value : values) value /= count;
    }
    return true;
  }
  persist::Checkpoint checkpoint() const override { return persist::checkpoint_of(solver_); }
  void resume(persist::Checkpoint const& checkpoint) override { persist::resume(solver_, checkpoint); }

 private:
  /// The losses, or the statistics, that these sums give.
  template <Node::Kind kind>
  static NamedValues own(std::span<double const> sums) {
    NamedValues all;
    if constexpr (has_own) {
      Net::Evaluation::for_each(sums.data(), [&](std::string_view name, double value) {
        for (std::size_t i = 0; i < Net::Graph::nodes.size(); ++i)
          if (Net::Graph::nodes[i].kind == kind && Net::Graph::names[i].view() == name) all.emplace_back(name, value);
      });
    }
    return all;
  }
  LabelUse use_of_labels() const {
    std::vector<Index> classes;
    auto const add = [&]<int i>(std::integral_constant<int, i>) {
      constexpr int compared = Net::Graph::nodes[i].inputs[0];
      Shape const& shape = Net::Graph::nodes[static_cast<std::size_t>(compared < 0 ? i : compared)].shape;
      classes.push_back(classes_of_loss(Net::Graph::template layer<i>, shape));
    };
    [&]<int... i>(std::integer_sequence<int, i...>) { (add(std::integral_constant<int, i>{}), ...); }
    (std::make_integer_sequence<int, Net::Graph::size>{});
    return label_use(description(), inputs_, classes);
  }
  static Values values_of(auto const& samples) { return samples.values; }
  /// A value for each input of the network, as a tuple.
  auto arrays(Values samples, Values targets) {
    auto const all = arrays_.of(samples, targets);
    return [&]<std::size_t... k>(std::index_sequence<k...>) { return std::tuple{all[k]...}; }
    (std::make_index_sequence<static_cast<std::size_t>(Net::input_count)>{});
  }
  struct Nothing {};
  S& solver_;
  std::vector<NetworkInput> inputs_;
  InputArrays arrays_;
  [[no_unique_address]] std::conditional_t<has_own, typename Net::Evaluation, Nothing> evaluation_;
  std::unique_ptr<GradientPass<S>> pass_;  // made when first needed
};
}  // namespace detail

/// How the solver's network computes and is judged. The solver is borrowed, and the caller sets `classes`.
Evaluated evaluated(AnySolver& solver);

/// The solver is borrowed.
std::unique_ptr<AnySolver> any_solver(dynamic::Solver& solver);
template <class S>
requires requires { S::objective; }
std::unique_ptr<AnySolver> any_solver(S& solver) { return std::make_unique<detail::TypedSolver<S>>(solver); }

}  // namespace coldpress::train
