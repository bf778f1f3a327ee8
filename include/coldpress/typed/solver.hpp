// The solver of a static network: forward, loss, backward and update as one fused plan.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/optim/number_range.hpp>
#include <coldpress/optim/sgd.hpp>
#include <coldpress/run/microbatches.hpp>
#include <coldpress/typed/network.hpp>

#include <array>

namespace coldpress {

namespace detail {
template <class Net, auto loss>
constexpr Shape target_shape() {
  if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) {
    return loss.target_shape(Net::output_shape);
  } else {
    return {};
  }
}

/// Whether a loss gives targets for values of a shape.
template <class L>
constexpr bool has_targets(L const& loss, Shape const& in) {
  return loss.target_shape(in).size() > 0;
}
/// What is wrong with a solver. The network itself is right.
template <class Net, auto loss, auto optimizer, SolverOptions options>
constexpr Diagnosis solver_diagnosis() {
  using L = std::remove_cvref_t<decltype(loss)>;
  if constexpr (std::is_same_v<L, OwnLosses>) {
    if (!Net::Graph::has_losses) return {.sentence = "Solver: the network has no losses of its own"};
  } else if constexpr (!Loss<L>) {
    char const* why = "Solver: needs a loss, or OwnLosses{}";
    if constexpr (resembles_loss<L>) why = missing_in_loss<L>();
    return {.sentence = why, .objective = true, .type = kind_of<L>(), .inputs = 1, .shapes = {Net::output_shape}};
  } else {
    Diagnosis all{.objective = true, .type = kind_of<L>(), .inputs = 1, .shapes = {Net::output_shape}};
    if (__builtin_constant_p(refusal_of_loss(loss, Net::output_shape).needed)) {
      Refusal const refusal = refusal_of_loss(loss, Net::output_shape);
      all.sentence = refusal.sentence, all.needed = refusal.needed;
    }
    if (all.sentence != nullptr) return all;
    all.sentence = "Solver: the loss refuses this";
    if (!__builtin_constant_p(has_targets(loss, Net::output_shape))) return all;
    all.sentence = "Solver: the loss has no target";
    if (!has_targets(loss, Net::output_shape)) return all;
  }
  if (!Net::trains)
    return {.sentence =
                "Solver: the weights of this network are constant, or rounded by its backend, and only for inference"};
  if (Net::weight_count == 0) return {.sentence = "Solver: the network has no parameters; there is nothing to train"};
  if ((options.bfloat16_gradients || options.shard_optimizer) && options.microbatch == 0)
    return {.sentence = "Solver: bfloat16_gradients and shard_optimizer need parts; set SolverOptions::microbatch"};
  if (!options.sane())
    return {.sentence = "Solver: a number of SolverOptions, or of one of its policies, is out of range"};
  if (options.microbatch > 0 && !knows_loss<typename Net::Backend>)
    return {.sentence = "Solver: SolverOptions::microbatch is for networks on the host; here a step is one pass"};
  if (!numbers_in_range(optimizer))
    return {.sentence =
                "Solver: a number of the optimizer is out of range: momentum, beta1, beta2 and rho are at least 0 and "
                "below 1, epsilon is above 0, and others are at least 0"};
  if (!options.suits(optimizer))
    return {.sentence = "Solver: momentum_policy is for an optimizer with a momentum, which it must keep below 1"};
  return {};
}
/// A workspace for runs that compute no more than `most` samples at once.
template <class Workspace, Index most>
struct PartWorkspace : Workspace {
  using Workspace::Workspace;
  void reserve(Index batch) { Workspace::reserve(freestanding::min(batch, most)); }
};
template <class Net>
constexpr bool is_wrong = requires {
  Net::is_wrong;
};
template <class Net, auto loss, auto optimizer, SolverOptions options>
constexpr bool solves = [] {
#if defined __CUDACC__
  return true;
#else
  if constexpr (is_wrong<Net>) {
    return false;
  } else {
    return solver_diagnosis<Net, loss, optimizer, options>().sentence == nullptr;
  }
#endif
}();
}  // namespace detail

/// Trains `Net`, a Network. The solver borrows the network, which must neither move nor end before the solver does.
/// `loss` compares the network's first output with targets; with OwnLosses{} only the losses in the network's function
/// count. `optimizer()` may be changed between steps, for example its learning rate.
template <class Net, auto loss, auto optimizer_value = Sgd{}, SolverOptions solver_options = SolverOptions{}>
class Solver {
  static constexpr bool has_target = Loss<std::remove_cvref_t<decltype(loss)>>;

 public:
  using T = typename Net::T;
  using Optimizer = std::remove_cvref_t<decltype(optimizer_value)>;
  using Program = typename ProgramOf<typename Net::Graph, typename Net::Backend,
                                     PlanOptions{.training = true, .losses = true, .blocks = Net::blocks}, loss>::type;
  using Step = typename StepBy<typename Net::Backend, Program, typename Net::Batch::Count>::type;
  static constexpr auto objective = loss;
  static constexpr SolverOptions options = solver_options;
  /// Whether gradients go straight into the parameters.
  static constexpr bool fused =
      fuses_update(options) && !Net::Graph::shares && fuses_update_of<typename Net::Backend, Optimizer>;

  explicit Solver(Net& net)
      : net_(net),
        workspace_(net.transfer()),
        state_(net.transfer().template memory<State>()),
        gradients_(net.transfer().template memory<Gradients>()),
        losses_(net.transfer().template memory<Losses>()),
        accumulator_(net.transfer()) {
    if constexpr (!options.shard_optimizer) state_.reserve(Optimizer::states * Net::parameter_size);
    if constexpr (!fused) gradients_.reserve(Net::parameter_size);
  }

  /// Takes one step on a minibatch of samples (a std::tuple for several inputs) and equally many targets. Returns the
  /// sum of the mean losses before the update.
  ///
  /// Throws ShapeError, and DataError if a label is not a class or a value is not finite; then nothing has changed.
  /// What a layer of the user's own throws in the backward pass also comes out of here. Weights and statistics behind
  /// that layer may then have been updated, and sums of gradients and of losses may have a part of the step.
  /// Throws DivergenceError if the loss is not finite, and then has changed no more than the statistics, or if a weight
  /// is found not to be finite after the step (SolverOptions::check_every). On a GPU only the samples are checked here,
  /// because the host does not wait for a step; see check_finite.
  ///
  /// Gradients are divided by the number of samples they come from, or, if minibatch_size is set, by minibatch_size
  /// times the number of minibatches per update.
  template <class X, class Y>
  auto train_minibatch(X const& x, Y const& y) requires has_target {
    auto const samples = detail::all_samples<T>(x);
    SamplesOf<Y, T> const wanted{y};
    Given const targets{wanted.values};
    auto const spans = samples.template spans<Given>();
    constexpr Index size = Net::input_shape.size();
    check_values("train_minibatch: the targets", targets.size(), count_samples(spans[0].size(), size, Net::input_shape),
                 target_shape);
    check_targets(loss, Net::output_shape, targets);
    std::array<Given, samples.count + 1> all;
    freestanding::copy_n(spans.data(), samples.count, all.data());
    all.back() = targets;
    return train(all);
  }
  /// The same for a network whose function contains all losses, and whose inputs include their targets.
  template <class X>
  auto train_minibatch(X const& x) requires(!has_target) {
    return train(detail::all_samples<T>(x).template spans<Given>());
  }

  /// The network's first output in the last step, empty before the first step; or any output, by its name.
  Samples<T> output() const { return workspace_.output(0); }
  template <FixedString name>
  Samples<T> output() const {
    return Net::template output<name>(workspace_);
  }
  /// The mean of a loss in the last step, by the loss's name in the network's function.
  template <FixedString name>
  T loss_value() const {
    constexpr int node = [] {
      for (int i = 0; i < Net::Graph::size; ++i) {
        bool const is_loss = Net::Graph::nodes[static_cast<std::size_t>(i)].kind == Node::Kind::loss;
        if (is_loss && Net::Graph::names[static_cast<std::size_t>(i)].view() == name.view()) return i;
      }
      return -1;
    }();
    static_assert(node >= 0, "loss_value: the network has no loss of this name");
    T value{};
    net_.transfer().read(losses_.data(), Program::size, [&](T const* losses) { value = losses[node]; });
    return value;
  }
  /// A metric of the network's function by its name, or the mean of a loss, over the samples of all steps since the
  /// last reset; NaN before the first.
  template <FixedString name>
  double statistic() const {
    return accumulator_.template report<name>();
  }
  void reset_statistics() { accumulator_.reset(); }
  /// The sum of the gradients of all minibatches since the last update before this step, as backward makes them and
  /// laid out as Net::parameters(). Exists only if the update is not fused. Throws UnsupportedError if each rank has a
  /// share (SolverOptions::shard_optimizer) and they are not gathered.
  std::span<T const> gradients() const requires(!fused) {
    if constexpr (options.shard_optimizer) Whereabouts::check(where_.gradients);
    return {gradients_.data(), static_cast<std::size_t>(Net::parameter_size)};
  }
  std::span<T> gradients() requires(!fused) {
    if constexpr (options.shard_optimizer) Whereabouts::check(where_.gradients);
    return {gradients_.data(), static_cast<std::size_t>(Net::parameter_size)};
  }
  void reserve(Index batch) { workspace_.reserve(batch); }
  /// Divides the parts of each step among the ranks of a communicator, which is borrowed; null: this process computes
  /// them all. Each rank calls train_minibatch with the whole minibatch, and gets the bits that one process would get,
  /// whatever the number of ranks. The ranks must have begun with the same weights (distributed::start compares them).
  void distribute_over([[maybe_unused]] Communicator* communicator) {
    static_assert(options.microbatch > 0, "distribute_over: ranks share parts; set SolverOptions::microbatch");
    if constexpr (options.microbatch > 0) microbatches_.distribute_over(communicator, options.shard_optimizer, where_);
  }
  /// With SolverOptions::shard_optimizer, all ranks call this before the state is read on rank 0, or on all of them, as
  /// for a checkpoint: it is known there until the next step. Otherwise it does nothing.
  void gather_state([[maybe_unused]] bool on_all_ranks = false) {
    if constexpr (options.shard_optimizer)
      microbatches_.gather(Optimizer::states, progress_.waiting > 0, on_all_ranks, buffers());
  }
  /// Sets the state to zero, also if it was divided among ranks. All of them must do so.
  void clear_state() {
    if constexpr (options.shard_optimizer) {
      where_.state = Whereabouts::whole, state_.reserve(state_size);
      if (progress_.waiting == 0) where_.gradients = Whereabouts::whole;
    }
    net_.transfer().clear(state_);
  }
  /// Throws DivergenceError if a weight of the network is not finite. A checkpoint of this solver calls it first.
  void check_finite() const {
    bool finite = true;
    net_.transfer().read(net_.parameters().data(), Net::parameter_size, [&](T const* all) {
      finite = first_not_finite(std::span{all, static_cast<std::size_t>(Net::parameter_size)}) < 0;
    });
    if (!finite) diverged(step(), static_cast<double>(loss_), true);
  }

  /// The optimizer. lr_policy starts from its learning_rate, and momentum_policy from its momentum.
  Optimizer& optimizer() { return optimizer_; }
  Optimizer const& optimizer() const { return optimizer_; }
  Net& network() const { return net_; }
  Index minibatch_size = 0;  // in samples; 0: the samples of each call

  /// A frozen weight, its optimizer state and its statistics are left alone by steps, but gradients still flow through
  /// its layer. The name is a weight's (linear1-0), or a layer's (linear1) for all of its weights. A checkpoint does
  /// not record which weights are frozen. Throws ConfigError if no weight or layer has the name.
  void freeze(std::string_view name) { set_frozen(name, true); }
  void unfreeze(std::string_view name) { set_frozen(name, false); }
  void freeze_all() { frozen_.fill(true); }
  void unfreeze_all() { frozen_.fill(false); }

  // What a checkpoint needs besides the parameters: state(s), laid out as Net::parameters(), the progress and, while
  // samples wait for their update, gradients(). On a GPU these are in its memory; use the network's read and write.
  std::uint64_t step() const { return progress_.minibatches; }
  Progress progress() const { return progress_; }
  void set_progress(Progress progress) { progress_ = progress; }
  // With shard_optimizer, state(s) throws UnsupportedError if it is divided and not gathered.
  std::span<T> state(int s) {
    check_not_moved();
    if constexpr (options.shard_optimizer) Whereabouts::check(where_.state), state_.reserve(state_size);
    return {state_.data() + s * Net::parameter_size, static_cast<std::size_t>(Net::parameter_size)};
  }

  static constexpr Shape target_shape = detail::target_shape<Net, loss>();

 private:
  using Given = typename Net::Given;
  void check_not_moved() const {
    constexpr bool keeps_state = state_size > 0 && !options.shard_optimizer;
    if constexpr (keeps_state) require(state_.data() != nullptr, "Solver: has been moved from");
    if constexpr (!fused && Net::parameter_size > 0)
      require(gradients_.data() != nullptr, "Solver: has been moved from");
  }
  /// Takes the step, and remembers its outputs.
  template <class Run>
  auto play(Run const& run, UpdateStep<Optimizer, T>& update_step) {
    if constexpr (options.microbatch > 0) {
      update_step.freeze(frozen_.data());
      microbatches_.reserve(run,
                            {options.microbatch, Program::scratch_size, Net::parameter_size, Index{Net::Graph::sums},
                             options.bfloat16_gradients, options.sync_batch_normalization});
      auto const mean =
          microbatches_.train_step(run, update_step, buffers(), StepOf::Each<Run, T>{run, losses_.data()});
      workspace_.note(run, microbatches_);
      return mean;
    } else {
      auto const mean = net_.transfer().play_for(losses_.data() + Program::size, Step{}, run, update_step, frozen_,
                                                 kept_gradients(), losses_.data());
      workspace_.note(run);
      return mean;
    }
  }
  template <std::size_t n>
  auto train(std::array<Given, n> inputs) {
    static_assert(n == static_cast<std::size_t>(Program::inputs_capacity),
                  "train_minibatch: takes a value for each input of the network");
    check_labels<typename Net::Graph>(inputs);
    check_not_moved();
    if constexpr (options.microbatch > 0) workspace_.copy_results(inputs, microbatches_);
    workspace_.run_on(net_.executor());
    auto run = net_.template start<Program>(inputs, workspace_, step() + 1);
    if constexpr (options.check_every > 0) {
      using coldpress::check_finite;  // of samples, not of weights
      for (std::size_t k = 0; k < Net::inputs.count; ++k)
        check_finite(inputs[k], Net::inputs[static_cast<int>(k)].size(), "input ", static_cast<int>(k));
      if constexpr (has_target) check_finite(inputs.back(), target_shape.size(), "the targets");
    }
    run.sums = accumulator_.sums();
    UpdateSink<Optimizer, T> sink{optimizer_, 0, net_.parameters().data(), {}};
    if constexpr (options.shard_optimizer) {
      microbatches_.place_states(sink, buffers());
    } else {
      for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = state_.data() + s * Net::parameter_size;
    }
    UpdateStep<Optimizer, T> update_step{sink, options, minibatch_size, progress_, run.batch, nullptr};
    auto const mean = play(run, update_step);
    if constexpr (std::is_same_v<decltype(mean), T const>) {  // on a GPU the loss becomes known when it is read
      loss_ = mean;
      if (!(mean - mean == 0)) diverged(step() + 1, static_cast<double>(mean), false);
    }
    progress_ = update_step.after();
    if constexpr (std::is_same_v<decltype(mean), T const> && options.check_every > 0) {
      if (step() % static_cast<std::uint64_t>(options.check_every) == 0) check_finite();
    }
    return mean;
  }
  [[noreturn]] __attribute__((noinline, cold)) void diverged(std::uint64_t at, double loss_there, bool taken) const {
    Name bad{};
    for (int i = Net::weight_count; i-- > 0;) {
      auto const size = static_cast<std::size_t>(Net::weight_shape(i).size());
      HeapMemory<T> values{Net::weight_shape(i).size()};
      net_.read_weight(i, {values.data(), size});
      if (first_not_finite<T>({values.data(), size}) >= 0) bad = Net::weight_name(i);
    }
    refuse_divergence(at, loss_there, taken, bad.view());
  }
  /// The buffers that a step needs, which ranks may divide.
  auto buffers() {
    if constexpr (options.shard_optimizer) {
      return BuffersInARow<T, Optimizer::states>{state_, gradients_.data(), Net::parameter_size, where_};
    } else {
      return gradients_.data();
    }
  }
  void set_frozen(std::string_view name, bool frozen) {
    using Graph = typename Net::Graph;
    bool known = false;
    for (int i = 0; i < Graph::parameter_count; ++i) {
      std::string_view const layer = Graph::names[Graph::parameters.node[i]].view();
      bool const of_layer = name == layer,
                 itself = name.starts_with(layer) && name.substr(layer.size()) == Graph::parameters.list[i].suffix;
      if (of_layer || itself) frozen_[Graph::parameters.owner[i]] = frozen, known = true;
    }
    if (!known) raise<ConfigError>(sentence_of("no layer with weights, and no weight, is named '", name, "'"));
  }
  auto kept_gradients() {
    if constexpr (fused) {
      return nullptr;
    } else {
      return gradients_.data();
    }
  }
  Net& net_;
  Optimizer optimizer_ = optimizer_value;
  using Transfer = typename Net::Transfer;
  static constexpr Index state_size = Optimizer::states * Net::parameter_size;
  using State = std::conditional_t<options.shard_optimizer, HeapMemory<T>,
                                   typename Transfer::template Memory<T, typename Net::Batch, state_size>>;
  using Gradients = typename Transfer::template Memory<T, typename Net::Batch, fused ? 0 : Net::parameter_size>;
  using Losses = typename Transfer::template Numbers<T, Program::size + 1>;  // per node, and their sum
  struct Nothing {};
  using Workspace = typename Net::template BasicWorkspace<Program>;
  std::conditional_t<(options.microbatch > 0), detail::PartWorkspace<Workspace, options.microbatch>, Workspace>
      workspace_;
  [[no_unique_address]] std::conditional_t<(options.microbatch > 0), Microbatches<T, options.sync_batch_normalization>,
                                           Nothing>
      microbatches_;
  State state_;
  Gradients gradients_;
  Losses losses_;
  [[no_unique_address]] MetricAccumulator<typename Net::Graph, Transfer> accumulator_;
  Progress progress_;
  Whereabouts where_;
  T loss_{};  // of the last step, if the host knows it
  std::array<bool, Net::Graph::parameter_count> frozen_{};
};

namespace detail {
/// Prints nothing if the network was wrong, which has then been said.
template <class Net, auto loss, auto optimizer, SolverOptions options>
constexpr Diagnosis solver_says() {
  if constexpr (is_wrong<Net>) {
    return {};
  } else {
    return solver_diagnosis<Net, loss, optimizer, options>();
  }
}
}  // namespace detail

/// A solver that does not compile. It says why, and accepts whatever else the program does with it.
template <class Net, auto loss, auto optimizer_value, SolverOptions solver_options>
requires(!detail::solves<Net, loss, optimizer_value, solver_options>) class Solver<Net, loss, optimizer_value,
                                                                                   solver_options> {
 public:
  using T = typename Net::T;
  using Optimizer = std::remove_cvref_t<decltype(optimizer_value)>;
  static constexpr bool is_wrong = true;
  template <class... Any>
  explicit Solver(Any&...);
  template <class... Any>
  T train_minibatch(Any const&...);
  template <FixedString... name>
  Samples<T> output() const;
  template <FixedString name>
  T loss_value() const;
  template <FixedString name>
  double statistic() const;
  void reset_statistics();
  std::span<T> gradients();
  std::span<T> state(int s);
  void reserve(Index batch);
  void distribute_over(Communicator* communicator);
  void gather_state(bool on_all_ranks = false);
  void clear_state();
  void check_finite() const;
  Optimizer& optimizer();
  Net& network() const;
  void freeze(std::string_view name);
  void unfreeze(std::string_view name);
  void freeze_all();
  void unfreeze_all();
  std::uint64_t step() const;
  Progress progress() const;
  void set_progress(Progress progress);
  Index minibatch_size = 0;

 private:
  static constexpr detail::Diagnosis said = detail::solver_says<Net, loss, optimizer_value, solver_options>();
#if defined __clang__
  static_assert(said.sentence == nullptr || detail::print<-1>(said));
#else
  static_assert(sizeof(NetworkError<said.text()>) > 0);
#endif
};

}  // namespace coldpress
