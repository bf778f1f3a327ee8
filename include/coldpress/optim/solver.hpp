// Training of a static network: forward, loss, backward and update as one fused plan.
#pragma once

#include <coldpress/graph/network.hpp>
#include <coldpress/optim/sgd.hpp>

namespace coldpress {

struct SolverOptions {
  float clip_gradients = 0;     // largest norm of all gradients together; 0: any. Turns the fusion of the update off.
  bool keep_gradients = false;  // so does this: gradients() then holds those of the last step
  bool operator==(SolverOptions const&) const = default;
};

/// The factor of a minibatch's gradients: clipped by their global norm first, then divided by the minibatch size
/// (Juice's order).
inline float gradient_scale(double squared_norm, float clip, Index minibatch_size) {
  double const norm = std::sqrt(squared_norm);
  double const clipped = clip > 0 && norm > static_cast<double>(clip) ? static_cast<double>(clip) / norm : 1.0;
  return static_cast<float>(clipped) * (1 / static_cast<float>(minibatch_size));
}

/// Forward, loss, backward and update of one minibatch; shared by static and dynamic solvers. Returns the mean loss
/// before the update. `sink` is that of the whole parameter buffer. `gradients`: where they go when the update cannot
/// be fused, else null or nullptr_t.
template <class Run, class Optimizer, class Gradients, class T = typename Run::T>
T train_step(Run const& run, T const* target, UpdateSink<Optimizer, T> sink, Index minibatch_size, float clip,
             Gradients gradients, Index size) {
  forward(run, true);
  T const loss = loss_and_gradient(run, target);
  sink.scale = gradient_scale(0, 0, minibatch_size);
  if (gradients == nullptr) {
    backward(run, [&](Index const* offsets) { return UpdateSinks<Optimizer, T>{sink, offsets}; });
  }
  if constexpr (!std::is_null_pointer_v<Gradients>) {
    if (gradients == nullptr) return loss;
    backward(run, [&](Index const* offsets) { return GradientSinks<T>{gradients, offsets}; });
    if (clip > 0) sink.scale = gradient_scale(run.backend.squared_norm(gradients, size), clip, minibatch_size);
    run.backend.update(sink, gradients, size);
  }
  return loss;
}

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
  static constexpr bool fused = options.clip_gradients == 0 && !options.keep_gradients;
  static_assert(Net::weight_count > 0, "Solver: the network has no parameters; there is nothing to train");

  explicit Solver(Net& net) : net_(net) {
    state_.reserve(Optimizer::states * Net::parameter_size);
    if constexpr (!fused) gradients_.reserve(Net::parameter_size);
  }

  /// One step on a minibatch: samples, and as many targets. Returns the mean loss before the update. Throws ShapeError,
  /// DataError; then nothing has changed. Gradients are divided by the samples of the call, or by minibatch_size where
  /// that is set.
  template <class X, class Y>
  T train_minibatch(X const& x, Y const& y) {
    SamplesOf<X, T> const samples{x};
    SamplesOf<Y, T> const targets{y};
    require(targets.values.size() * static_cast<std::size_t>(Net::input_shape.size()) ==
                samples.values.size() * static_cast<std::size_t>(target_shape.size()),
            "train_minibatch: the targets must be as many as the samples");
    check_targets(loss, targets.values);
    auto const run = net_.start(Program{}, samples.values, workspace_, step_ + 1);
    UpdateSink<Optimizer, T> sink{optimizer_, 0, net_.parameters().data(), {}};
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = state_.data() + s * Net::parameter_size;
    Index const minibatch = minibatch_size > 0 ? minibatch_size : Index{run.batch};
    T const mean = train_step(run, targets.values.data(), sink, minibatch, options.clip_gradients, kept_gradients(),
                              Net::parameter_size);
    ++step_;
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
  /// Of the last step, laid out as Net::parameters(); only where the update is not fused.
  std::span<T const> gradients() const requires(!fused) {
    return {gradients_.data(), static_cast<std::size_t>(Net::parameter_size)};
  }
  void reserve(Index batch) { workspace_.reserve(batch); }

  Optimizer& optimizer() { return optimizer_; }
  Optimizer const& optimizer() const { return optimizer_; }
  Net& network() const { return net_; }
  Index minibatch_size = 0;  // 0: the samples of each call

  // What a checkpoint needs beside the parameters. state(s) is laid out as Net::parameters().
  std::uint64_t step() const { return step_; }
  void set_step(std::uint64_t step) { step_ = step; }
  std::span<T> state(int s) {
    return {state_.data() + s * Net::parameter_size, static_cast<std::size_t>(Net::parameter_size)};
  }

  static constexpr Shape target_shape = loss.target_shape(Net::output_shape);

 private:
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
  std::uint64_t step_ = 0;
};

}  // namespace coldpress
