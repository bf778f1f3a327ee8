// Training of a static network: forward, loss, backward and update as one fused plan.
#pragma once

#include <coldpress/graph/network.hpp>
#include <coldpress/optim/sgd.hpp>
#include <coldpress/optim/update.hpp>

#include <array>

namespace coldpress {

/// Throws DataError unless every label is a class of the loss.
template <class LossType, class T>
void check_targets(LossType const& loss, std::span<T const> targets) {
  if constexpr (LossType::target == Target::label) {
    for (T const label : targets) {
      if (!(label >= 0 && label < static_cast<T>(loss.num_classes)) ||
          label != static_cast<T>(static_cast<Index>(label))) {
        throw DataError{"a label must be a whole number, from 0 and below the number of classes"};
      }
    }
  }
}

/// Trains `Net`, a Network, which it borrows: the network must neither move nor die before it. `optimizer()` may be
/// changed between steps (learning rate).
template <class Net, Loss auto loss, auto optimizer_value = Sgd{}, SolverOptions solver_options = SolverOptions{}>
class Solver {
  static_assert(loss.target_shape(Net::output_shape).size() > 0);  // first of all, for a short error

 public:
  using T = typename Net::T;
  using Optimizer = std::remove_cvref_t<decltype(optimizer_value)>;
  using Program = StaticProgram<typename Net::Graph, typename Net::Backend, true, false, loss>;
  static constexpr auto objective = loss;
  static constexpr SolverOptions options = solver_options;
  /// Whether gradients go straight into the parameters.
  static constexpr bool fused = fuses_update(options) && !Net::Graph::shares;
  static_assert(Net::weight_count > 0, "Solver: the network has no parameters; there is nothing to train");
  static_assert(options.sane(), "Solver: a number of SolverOptions is out of range, or its lr_policy lacks one");

  explicit Solver(Net& net) : net_(net) {
    state_.reserve(Optimizer::states * Net::parameter_size);
    if constexpr (!fused) gradients_.reserve(Net::parameter_size);
  }

  /// One step on a minibatch: samples, and as many targets. Returns the mean loss before the update. Throws ShapeError,
  /// DataError; then nothing has changed. Gradients are divided by the samples they come from, or by minibatch_size
  /// where that is set, times the minibatches of an update.
  template <class X, class Y>
  T train_minibatch(X const& x, Y const& y) {
    SamplesOf<X, T> const samples{x};
    SamplesOf<Y, T> const targets{y};
    require(targets.values.size() * static_cast<std::size_t>(Net::input_shape.size()) ==
                samples.values.size() * static_cast<std::size_t>(target_shape.size()),
            "train_minibatch: the targets must be as many as the samples");
    check_targets(loss, targets.values);
    auto const run = net_.start(Program{}, samples.values, workspace_, step() + 1);
    UpdateSink<Optimizer, T> sink{optimizer_, 0, net_.parameters().data(), {}};
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = state_.data() + s * Net::parameter_size;
    Turn<Optimizer, T> const turn{sink, options, minibatch_size, progress_, run.batch, frozen_.data()};
    T const mean = train_step(run, targets.values.data(), turn, kept_gradients());
    progress_ = turn.after();
    batch_ = run.batch;
    return mean;
  }

  /// The network's outputs in the last step; none before the first.
  Samples<T> output() const {
    if (batch_ == 0) return {};
    Index const offset = Program::group(Program::output()).value.offset;
    return {{workspace_.values() + offset * batch_, static_cast<std::size_t>(batch_ * Net::output_shape.size())},
            batch_};
  }
  /// The sum of those since the update before the last step, as backward makes them and laid out as Net::parameters();
  /// only where the update is not fused.
  std::span<T const> gradients() const requires(!fused) {
    return {gradients_.data(), static_cast<std::size_t>(Net::parameter_size)};
  }
  std::span<T> gradients() requires(!fused) {
    return {gradients_.data(), static_cast<std::size_t>(Net::parameter_size)};
  }
  void reserve(Index batch) { workspace_.reserve(batch); }

  /// Its learning_rate is the one that lr_policy starts from.
  Optimizer& optimizer() { return optimizer_; }
  Optimizer const& optimizer() const { return optimizer_; }
  Net& network() const { return net_; }
  Index minibatch_size = 0;  // 0: the samples of each call

  /// Steps leave a frozen weight, its optimizer state and its statistics as they are, while gradients flow on through
  /// its layer. The name is a weight's (linear1-0), or a layer's (linear1) for all its weights. A checkpoint does not
  /// hold who is frozen. Throws ConfigError for a name that is neither.
  void freeze(std::string_view name) { set_frozen(name, true); }
  void unfreeze(std::string_view name) { set_frozen(name, false); }
  void freeze_all() { frozen_.fill(true); }
  void unfreeze_all() { frozen_.fill(false); }

  // What a checkpoint needs beside the parameters: state(s), laid out as Net::parameters(); the progress; and while
  // samples wait for their update, gradients().
  std::uint64_t step() const { return progress_.minibatches; }
  Progress progress() const { return progress_; }
  void set_progress(Progress progress) { progress_ = progress; }
  std::span<T> state(int s) {
    return {state_.data() + s * Net::parameter_size, static_cast<std::size_t>(Net::parameter_size)};
  }

  static constexpr Shape target_shape = loss.target_shape(Net::output_shape);

 private:
  void set_frozen(std::string_view name, bool frozen) {
    using Graph = typename Net::Graph;
    bool known = false;
    for (int i = 0; i < Graph::parameter_count; ++i) {
      std::string_view const layer = Graph::names[Graph::parameters.node[i]].view();
      bool const of_layer = name == layer,
                 itself = name.starts_with(layer) && name.substr(layer.size()) == Graph::parameters.list[i].suffix;
      if (of_layer || itself) frozen_[Graph::parameters.owner[i]] = frozen, known = true;
    }
    if (!known) throw ConfigError{std::string{"no layer with weights, and no weight, is named '"}.append(name) + "'"};
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
  typename Net::template BasicWorkspace<Program> workspace_;
  Memory<T, typename Net::Batch, Optimizer::states * Net::parameter_size> state_;
  Memory<T, typename Net::Batch, fused ? 0 : Net::parameter_size> gradients_;
  Index batch_ = 0;  // of the last step
  Progress progress_;
  std::array<bool, Net::Graph::parameter_count> frozen_{};
};

}  // namespace coldpress
