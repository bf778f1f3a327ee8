// From the gradients of a minibatch to the update of the weights, for static and dynamic solvers.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/optim/policies.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/run/execute.hpp>

namespace coldpress {

/// What happens to gradients before they reach the optimizer, in this order (as in Juice and Caffe): they are summed
/// over the minibatches of an update, clipped by their norm, divided, clipped by value, and the gradient of the penalty
/// on the weights is added.
struct SolverOptions {
  float clip_gradients = 0;     // largest norm of all gradients together; 0: any. Not 0: the update is not fused.
  float clip_values = 0;        // largest magnitude of each number of the mean gradient; 0: any
  bool keep_gradients = false;  // keeps the last step's gradients for gradients(); the update is not fused
  float weight_decay = 0;
  Regularization regularization_method = Regularization::l2;
  Index accumulate = 1;  // minibatches per update; with more than one, the update is not fused
  Index microbatch = 0;  // samples that are computed at once (run/microbatches.hpp); 0: all. Not 0: it is not fused
  // Whether BatchNormalization normalises by the statistics of the whole minibatch, over all parts of all ranks, and
  // not by those of a part. Without microbatch it does anyway.
  bool sync_batch_normalization = false;
  bool bfloat16_gradients = false;           // rounds those of the parts, and their sums, for the way between processes
  bool shard_optimizer = false;              // whether processes divide the optimizer's state among themselves: ZeRO-1
  Policy lr_policy = policy::Fixed{};        // of the optimizer's learning rate
  Policy momentum_policy = policy::Fixed{};  // of the optimizer's momentum, if it has one
  // After this many steps each, all weights are checked to be finite. 0: neither weights nor inputs and targets are
  // checked; the loss always is. docs/training.md says what the check costs.
  Index check_every = 16;
  /// Whether every number is in its range.
  constexpr bool sane() const {
    return clip_gradients >= 0 && clip_values >= 0 && weight_decay >= 0 && accumulate > 0 &&
           accumulate <= Index{1} << 20 && lr_policy.sane() && momentum_policy.sane() && check_every >= 0 &&
           microbatch >= 0 && (microbatch > 0 || !(bfloat16_gradients || shard_optimizer));
  }
  /// Whether an optimizer can follow the policies: a momentum must stay below 1.
  template <class Optimizer>
  constexpr bool suits(Optimizer const& optimizer) const {
    if constexpr (requires { optimizer.momentum; }) {
      return momentum_policy == Policy{} || momentum_policy.upper_bound(optimizer.momentum) < 1;
    } else {
      return momentum_policy == Policy{};
    }
  }
  bool operator==(SolverOptions const&) const = default;
};

/// How far a training has come.
struct Progress {
  std::uint64_t minibatches = 0;
  Index waiting = 0;  // samples whose gradients wait for the update
  bool operator==(Progress const&) const = default;
};

/// Whether gradients can go straight into the parameters.
constexpr bool fuses_update(SolverOptions const& options) {
  return options.clip_gradients == 0 && !options.keep_gradients && options.accumulate == 1 && options.microbatch == 0;
}

/// The factor of a minibatch's gradients: they are first clipped by their global norm, then divided by the minibatch
/// size (Juice's order).
COLDPRESS_DEVICE inline float gradient_scale(double squared_norm, float clip, Index minibatch_size) {
  double const norm = freestanding::sqrt(squared_norm);
  double const clipped = clip > 0 && norm > static_cast<double>(clip) ? static_cast<double>(clip) / norm : 1.0;
  return static_cast<float>(clipped) * (1 / static_cast<float>(minibatch_size));
}

/// Whether the optimizer says by itself when it is plain (optim/optimizers.hpp), and has not inherited that.
template <class Optimizer>
inline constexpr bool declares_plain = false;
template <class Optimizer>
requires requires { &Optimizer::plain; }
inline constexpr bool declares_plain<Optimizer> =
    std::is_same_v<decltype(&Optimizer::plain), bool (Optimizer::*)() const>;

/// The part of one minibatch in an update. `sink` has the optimizer and the whole buffers. `minibatch_size` is what the
/// gradients of a minibatch are divided by; 0 means its number of samples. `frozen` has one flag per parameter; that of
/// a shared parameter is at its owner.
template <class Optimizer, class T>
class UpdateStep {
 public:
  constexpr UpdateStep(UpdateSink<Optimizer, T> sink, SolverOptions const& options, Index minibatch_size,
                       Progress const& progress, Index batch, bool const* frozen)
      : sink_(sink),
        frozen_(frozen),
        clip_(options.clip_gradients),
        fuses_(fuses_update(options)),
        keeps_(options.keep_gradients),
        adds_(progress.waiting > 0) {
    auto const accumulate = static_cast<std::uint64_t>(options.accumulate), update = progress.minibatches / accumulate;
    updates_ = (progress.minibatches + 1) % accumulate == 0;
    number_ = update + 1;
    observation_ = 1 / static_cast<float>(options.accumulate);
    after_ = {progress.minibatches + 1, updates_ ? 0 : progress.waiting + batch};
    divisor_ = minibatch_size > 0 ? minibatch_size * options.accumulate : progress.waiting + batch;
    sink_.decay = options.weight_decay;
    sink_.regularization = options.regularization_method;
    sink_.scale = gradient_scale(0, 0, divisor_);
    if (options.clip_values > 0) sink_.bound = options.clip_values;
    sink_.optimizer.learning_rate = options.lr_policy.value(sink_.optimizer.learning_rate, update);
    if constexpr (declares_plain<decltype(sink_.optimizer)>)
      sink_.plain = sink_.optimizer.plain() && options.momentum_policy.upper_bound(0) == 0;
    if constexpr (requires { sink_.optimizer.momentum; })
      sink_.optimizer.momentum = options.momentum_policy.value(sink_.optimizer.momentum, update);
    if constexpr (requires { sink_.optimizer.at(update); }) sink_.optimizer = sink_.optimizer.at(number_);
  }

  /// Sinks that update immediately, for updates of one minibatch that need no knowledge of all gradients.
  constexpr UpdateSinks<Optimizer, T> update_sinks(Slots slots) const { return {sink_, slots, frozen_, observation_}; }
  /// Sinks into memory that holds the gradients of earlier minibatches.
  constexpr GradientSinks<T> gradient_sinks(T* gradients, Slots slots) const { return {{gradients, adds_}, slots}; }
  constexpr bool adds() const { return adds_; }
  constexpr bool fuses() const { return fuses_ && !adds_; }

  /// Updates the parameters from the gradients in memory, if this minibatch is the last of the update. `slots` are
  /// those of all `count` parameters.
  template <class Backend>
  constexpr void finish(Backend const& backend, T const* gradients, Slots slots, int count) const {
    if (updates_) ComputedBy<Backend>::update(backend, *this, gradients, slots, count);
  }
  template <class Backend>
  constexpr void update_by_primitives(Backend const& backend, T const* gradients, Slots slots, int count) const {
    apply_gradient(backend, gradients, slots, count, squared_norm(backend, gradients, slots, count));
    constrain(backend, slots, count);
  }
  /// That of all gradients that are clipped; 0 if none are.
  template <class Backend>
  constexpr double squared_norm(Backend const& backend, T const* gradients, Slots slots, int count) const {
    double norm = 0;
    if (clips()) {
      for_each(update_sinks(slots), count, [&](int i, auto const&, Slot const& slot) {
        if (is_clipped(slots, i)) norm += backend.squared_norm(gradients + slot.offset, slot.size);
      });
    }
    return norm;
  }
  /// Updates some of `weights` from their gradients, as they are laid out. state(s) is the address of state s for the
  /// first of these values. `values` begins and ends with a cache line.
  template <class Backend, class State>
  constexpr void update_part(Backend const& backend, T const* gradients, Slots slots, int count, double squared_norm,
                             Range values, T* weights, State state) const {
    for_each(update_sinks(slots), count, [&](int i, auto const&, Slot const& slot) {
      Index const begin = freestanding::max(slot.offset, values.begin),
                  end = freestanding::min(slot.offset + slot.size, values.end);
      if (begin >= end) return;
      UpdateSink<Optimizer, T> part = sink(slots, count, i, squared_norm);
      part.weight = weights + begin;
      for (int s = 0; s < Optimizer::states; ++s) part.state[s] = state(s) + (begin - values.begin);
      backend.apply_gradient(gradients + begin, end - begin, part);
    });
  }
  /// Passes all gradients to the update. `gradients` is an address, or something with the same + and [].
  template <class Backend, class Gradients>
  constexpr void apply_gradient(Backend const& backend, Gradients gradients, Slots slots, int count,
                                double squared_norm = 0) const {
    for_each(update_sinks(slots), count, [&](int i, auto const&, Slot const& slot) {
      backend.apply_gradient(gradients + slot.offset, slot.size, sink(slots, count, i, squared_norm));
    });
  }
  constexpr bool clips() const { return clip_ > 0; }
  /// Whether the gradients of parameter i are among those that are clipped.
  constexpr bool is_clipped(Slots slots, int i) const {
    auto const sink = update_sinks(slots)[i];
    return sink.average == 0 && !sink.frozen;
  }
  /// The sink for the gradients of parameter i, where `squared_norm` is that of all gradients that are clipped.
  constexpr UpdateSink<Optimizer, T> sink(Slots slots, int count, int i, double squared_norm) const {
    UpdateSinks<Optimizer, T> sinks = update_sinks(slots);
    if (clips()) sinks.whole.scale = gradient_scale(squared_norm, clip_, divisor_);
    UpdateSink<Optimizer, T> sink = sinks[i];
    if (sink.average > 0) {  // one observation per use
      int uses = 0;
      for (int use = 0; use < count; ++use) uses += slots.slots[use].owner == i && slots.slots[use].observes;
      sink.scale /= static_cast<float>(uses);
    }
    return sink;
  }
  /// After the update, scales weights with a max_norm down to it.
  template <class Backend>
  constexpr void constrain(Backend const& backend, Slots slots, int count) const {
    for_each(update_sinks(slots), count, [&](int i, auto const& sink, Slot const&) {
      MaxNorm const& bound = slots.parameters[i].max_norm;
      if (bound.norm > 0 && number_ % static_cast<std::uint64_t>(bound.every) == 0)
        backend.constrain(slots.parameters[i], sink.weight, bound.norm);
    });
  }
  constexpr Progress after() const { return after_; }
  constexpr bool updates() const { return updates_; }
  /// Whether this minibatch ends with all gradients being known, also where each rank updates a share of the weights.
  constexpr bool needs_all_gradients() const { return keeps_ || (clips() && updates_); }
  constexpr T* weights() const { return sink_.weight; }
  constexpr void freeze(bool const* frozen) { frozen_ = frozen; }

 private:
  /// f(i, sink, slot) for each parameter that the update changes.
  static constexpr void for_each(UpdateSinks<Optimizer, T> const& sinks, int count, auto f) {
    for (int i = 0; i < count; ++i) {
      auto const sink = sinks[i];
      Slot const& slot = sinks.slots.slots[i];
      if (!sink.frozen && slot.reached && !slot.shared) f(i, sink, slot);
    }
  }
  UpdateSink<Optimizer, T> sink_;
  bool const* frozen_;
  float clip_, observation_;
  bool fuses_, keeps_, adds_, updates_;
  std::uint64_t number_;  // of the update, counted from 1
  Index divisor_;
  Progress after_;
};

/// parameters <- parameters - gradients for parameters that are learned and not frozen. All three have the layout
/// that an UpdateStep uses.
template <class Backend>
constexpr void subtract(Backend const& backend, float* parameters, float const* gradients, Slots slots, int count,
                        bool const* frozen) {
  for (int i = 0; i < count; ++i) {
    Slot const& slot = slots.slots[i];
    if (slot.shared || frozen[i] || slots.parameters[i].is_statistic()) continue;
    ComputedBy<Backend>::subtract(backend, parameters + slot.offset, gradients + slot.offset, slot.size);
  }
}

/// Whether the backend's kernels can end in the optimizer's step. Kernels that users instantiate always can.
template <class Backend, class Optimizer>
constexpr bool fuses_update_of = [] {
  if constexpr (requires { Backend::template fuses_update<Optimizer>; }) {
    return Backend::template fuses_update<Optimizer>;
  } else {
    return true;
  }
}();

/// Whether the code that takes a step knows the loss, as on the host. Then a step whose loss is not finite ends early.
template <class Backend>
constexpr bool knows_loss = !takes_layers<Backend> && !many_threads<Backend>;

/// Forward, losses, backward and update of one minibatch. Returns the sum of the losses' means before the update, and
/// passes each mean to each(g, mean). If the sum is infinite or NaN, the host takes no step and nothing changes.
/// `gradients` is where gradients are stored if the update cannot be fused, else null or nullptr_t.
template <class Run, class Optimizer, class Gradients, class Each, class T = typename Run::T>
constexpr T train_step(Run const& run, UpdateStep<Optimizer, T> update_step, Gradients gradients, Each each) {
  forward(run);
  T const loss = loss_and_gradient(run, each);
  if constexpr (knows_loss<std::remove_cvref_t<decltype(run.backend)>>) {
    if (!(loss - loss == 0)) return loss;
  }
  if constexpr (fuses_update_of<std::remove_cvref_t<decltype(run.backend)>, Optimizer>) {
    if (gradients == nullptr) {
      Slots const slots = run.program.slots();
      backward(run, update_step.update_sinks(slots));
      if constexpr (std::remove_cvref_t<decltype(run.program)>::bounds_weights())
        update_step.constrain(run.backend, slots, run.program.parameter_count());
    }
  }
  if constexpr (!std::is_null_pointer_v<Gradients>) {
    if (gradients == nullptr) return loss;
    Slots const slots = run.program.slots();
    backward(run, update_step.gradient_sinks(gradients, slots));
    update_step.finish(run.backend, gradients, slots, run.program.parameter_count());
  }
  return loss;
}

/// train_step as a function object. losses[node] receives the mean of each loss, losses[size] their sum.
struct StepOf {
  static constexpr std::string_view name = "step";
  template <class Run, class T>
  struct Each {
    Run const& run;
    T* losses;
    template <class G>
    constexpr void operator()(G g, T value) const {
      int const node = [&] {
        if constexpr (std::is_empty_v<G>) {  // not the group itself, because a GPU has no table of groups
          constexpr int constant = Run::ProgramType::group(G{}).loss;
          return constant;
        } else {
          return run.program.group(g).loss;
        }
      }();
      detail::once(run.backend, [&] { losses[node] = value; });
    }
  };
  template <class Run, class Optimizer, class T, class Frozen, class Gradients>
  constexpr T operator()(Run const& run, UpdateStep<Optimizer, T> update_step, Frozen const& frozen,
                         Gradients gradients, T* losses) const {
    update_step.freeze(frozen.data());
    return train_step(run, update_step, gradients, Each<Run, T>{run, losses});
  }
};

/// How a backend executes a step of a program, for minibatches of this Count.
template <class Backend, class Program, class Count>
struct StepBy {
  using type = StepOf;
};

}  // namespace coldpress
