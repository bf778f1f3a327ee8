// Training steps that compute a minibatch in parts, each of them forward and backward.
#pragma once

// The values of a part may fit into the cache where those of the minibatch do not; they take less memory, and the parts
// run side by side on the threads of an executor. Each part has gradients of its own. These are added up in pairs,
// pairs of pairs and so on (TreeSum), so no bit depends on the threads, nor on the processes that take the step
// together. Between processes, gradients travel while those of earlier layers are still computed. Parts that
// synchronise go through the network together, and wait for each other where a layer sums over all samples
// (PartTotals).

#include <coldpress/core/executor.hpp>
#include <coldpress/run/observed_statistics.hpp>
#include <coldpress/run/part_totals.hpp>
#include <coldpress/run/same_step.hpp>
#include <coldpress/run/shared_results.hpp>
#include <coldpress/run/state_shares.hpp>
#include <coldpress/run/update.hpp>

#include <utility>

namespace coldpress {

namespace detail {
/// f(k, number of values per sample) for each input of the network, including the targets.
template <class Run, class F>
constexpr void for_each_input(Run const& run, F f) {
  using Program = typename Run::ProgramType;
  if constexpr (requires { typename Program::Net; }) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (f(std::size_t{k}, Index{run.program.columns(std::integral_constant<int, -1 - k>{})}), ...);
    }
    (std::make_integer_sequence<int, Program::inputs_capacity>{});
  } else {
    for (std::size_t k = 0; k < run.inputs.size(); ++k) {
      if (run.inputs[k]) f(k, Index{run.program.columns(-1 - static_cast<int>(k))});
    }
  }
}
template <class Backend>
constexpr Executor* executor_of(Backend const& backend) {
  if constexpr (requires { backend.executor; }) {
    return backend.executor;
  } else {
    return nullptr;
  }
}
}  // namespace detail

/// The memory of such steps. The code for parts that synchronise is only compiled where they may.
template <class T, bool may_synchronize = true>
class Microbatches {
 public:
  /// What a step has to know about a network, in values, and about how it is trained.
  struct Sizes {
    Index samples;     // per part, of which the last may have fewer
    Index scratch;     // before a workspace
    Index parameters;  // of which there are gradients
    Index sums;        // of losses and statistics
    bool bfloat16;     // see SolverOptions::bfloat16_gradients
    // Whether layers that sum over the samples do so over all parts, which then go through the network together.
    bool synchronized = false;
  };

  /// Makes all ranks compute equally many parts, give or take one, of each step. The communicator is borrowed; null:
  /// this process computes them all. Each rank is given the whole minibatch, of which it reads its samples_of_rank
  /// alone. It knows losses, statistics, outputs and the sum of the gradients after the step, so all ranks take the
  /// same one.
  ///
  /// If the ranks divide the optimizer's state, each keeps the state of its share of the values, updates that share of
  /// the weights, and sends it to all others instead of the total of the gradients. Throws UnsupportedError if the
  /// state is not here but divided, and not among these ranks.
  void distribute_over(Communicator* communicator, bool divides, Whereabouts& where) {
    divides = divides && communicator && communicator->size() > 1;
    if (!divides || !shares_.belong_to(*communicator)) Whereabouts::check(where.state);
    if (communicator != communicator_ || divides != divides_) where.leave_ranks();
    communicator_ = communicator, divides_ = divides;
  }

  /// Tells a sink for all parameters where the states are. Where they are divided, no step reads them there.
  template <class Optimizer, class Buffers>
  void place_states(UpdateSink<Optimizer, T>& sink, Buffers const& buffers) const {
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = divides_ ? sink.weight : buffers.state(s);
  }
  /// Whether a value is among the outputs of the last step.
  bool holds(T const* value) const { return is_among(value, outputs_.data(), outputs_.size()); }
  /// Makes room for steps like this one. Nothing else allocates.
  template <class Run>
  void reserve(Run const& run, Sizes const& sizes) {
    sizes_ = sizes, batch_ = run.batch, parts_ = (batch_ + sizes.samples - 1) / sizes.samples;
    gradients_.reserve(communicator_, parts_, sizes.parameters, sizes.bfloat16);
    Index const own = gradients_.own().count();
    if (communicator_) order_gradients(run.program.slots(), run.program.parameter_count());
    room_ = (sizes.scratch + run.program.plan().workspace * sizes.samples + line - 1) / line * line;
    groups_ = run.program.plan().groups;
    auto const* const executor = detail::executor_of(run.backend);
    totals_.reserve(run, synchronizes<Run> && sizes.synchronized, parts_, batch_);
    Index others = executor && own > 1 ? executor->workers() - 1 : 0;
    if (totals_.stages() > 1) others = freestanding::max(others, own - 1);
    Index columns = 0;
    detail::for_each_output(run, [&](std::size_t, auto const& y) { columns += y.columns; });
    losses_.reserve(parts_ * groups_), sums_.reserve(parts_ * sizes.sums);
    outputs_.reserve(batch_ * columns), others_.reserve(others * room_);
    statistics_.reserve(run, sizes.bfloat16);
    if (!communicator_) return;
    results_.reserve(parts_, batch_, groups_ * Index{sizeof(T)} + sizes.sums * Index{sizeof(double)},
                     columns * Index{sizeof(T)});
    plans_.reserve(*communicator_);
  }
  /// Takes a step (train_step in run/update.hpp) after reserve(run, ...). The caller works in the workspace of `run`,
  /// which has room for one part. `buffers` is the address of the gradients of earlier minibatches of the update, or,
  /// where the optimizer's state may be divided, what StateShares knows the buffers by. Throws MismatchError, the same
  /// on all ranks, if they do not take the same step. Then nothing has changed. On several ranks, after any other
  /// exception nothing has changed but gradients that the step would have replaced, or a state that is divided, and the
  /// communicator has given up.
  template <class Run, class Optimizer, class Buffers, class Each>
  T train_step(Run const& run, UpdateStep<Optimizer, T> update_step, Buffers buffers, Each each) {
    if (communicator_) check_same_step(run, update_step);
    T* const gradients = prepare(buffers, Optimizer::states);
    freestanding::fill_n(sums_.data(), parts_ * sizes_.sums, 0);
    Exchanges under_way{communicator_};
    gradients_.begin(gradients, update_step.adds(), !divides_);
    for (Index stage = 0; stage < totals_.stages(); ++stage) {
      if (stage > 0) synchronize(run, stage - 1);
      Parts<Run> const all{*this, run, stage};
      auto* const executor = detail::executor_of(run.backend);
      Index const own = gradients_.own().count();
      if (executor && own > 1) {
        executor->run({static_cast<int>(own), Parts<Run>::piece, &all});
      } else {
        for (Index part = 0; part < own; ++part) all(part, 0);
      }
    }
    gradients_.wait();
    if (communicator_) share_results(run);
    T const loss = mean_losses(run, [](auto, T) {});
    bool const taken = loss - loss == 0;
    if (taken) {
      gradients_.store();
      statistics_.restore(gradients, run.parameters);
    }
    if constexpr (!std::is_pointer_v<Buffers>) {
      if (taken && divides_) update_share(run, update_step, buffers);
    }
    under_way.communicator = nullptr;
    mean_losses(run, each);
    if (run.sums) {
      for (Index i = 0; i < parts_ * sizes_.sums; ++i) run.sums[i % sizes_.sums] += sums_.data()[i];
    }
    if (taken && !divides_)
      update_step.finish(run.backend, gradients, run.program.slots(), run.program.parameter_count());
    return loss;
  }
  /// Makes the state, and gradients that wait, known to rank 0, or to all ranks, which must all call this. They are,
  /// until the next step.
  template <class Buffers>
  void gather(int states, bool waiting, bool everywhere, Buffers buffers) {
    if (buffers.where.state == Whereabouts::whole && buffers.where.gradients == Whereabouts::whole) return;
    gradients_.reserve(communicator_, parts_, sizes_.parameters, sizes_.bfloat16);  // the ranks may be others by now
    shares_.gather(gradients_, states, waiting, everywhere, buffers);
  }
  /// f(k, the values of output k in the last step, one sample after another)
  template <class Run, class F>
  void for_each_output(Run const& run, F f) const {
    T const* values = outputs_.data();
    detail::for_each_output(run, [&](std::size_t k, auto const& y) {
      f(k, values);
      values += batch_ * y.columns;
    });
  }

 private:
  static constexpr Index line = 16;  // values

  /// What has begun must end with the step, or be given up if that throws: it uses memory of this object.
  struct Exchanges {
    Communicator* communicator;
    ~Exchanges() {
      if (communicator) communicator->give_up();
    }
  };

  Index samples_of(Index part) const { return freestanding::min(sizes_.samples, batch_ - part * sizes_.samples); }
  template <class Run, class Optimizer>
  void check_same_step(Run const& run, UpdateStep<Optimizer, T> const& update_step) {
    std::uint64_t const update =
        StepPlan::number_of(update_step, run.program.slots(), run.program.parameter_count(), sizes_.bfloat16, divides_);
    auto const batch = static_cast<std::uint64_t>(batch_), microbatch = static_cast<std::uint64_t>(sizes_.samples);
    StepPlan const own{run.step, batch, microbatch, sizes_.synchronized, update};  // named for nvcc
    plans_.compare(*communicator_, own);
  }
  /// Returns where the gradients are, and lets this rank have no more than its share of the state if it is divided.
  template <class Buffers>
  T* prepare(Buffers& buffers, int states) {
    if constexpr (std::is_pointer_v<Buffers>) {
      return buffers;
    } else {
      if (!divides_) buffers.where = {};
      if (divides_ && buffers.where.state != Whereabouts::shares)
        shares_.take(gradients_, *communicator_, states, buffers);
      return buffers.gradients();
    }
  }
  /// Updates this rank's share of the weights, and those of the other ranks by what they send. Weights change when all
  /// have come.
  template <class Run, class Optimizer, class Buffers>
  void update_share(Run const& run, UpdateStep<Optimizer, T> const& update_step, Buffers& buffers) {
    Slots const slots = run.program.slots();
    int const count = run.program.parameter_count();
    T* const gradients = buffers.gradients();
    bool const all_gradients = update_step.needs_all_gradients();
    if (all_gradients) gradients_.exchange_shares(gradients, [](Range, Index) {});
    buffers.where.gradients = all_gradients ? Whereabouts::whole : Whereabouts::shares;
    if (!update_step.updates()) return;
    double const norm = update_step.squared_norm(run.backend, gradients, slots, count);
    T *const weights = update_step.weights(), *const fresh = gradients_.room();
    gradients_.exchange_shares(fresh, [&](Range values, Index before) {
      freestanding::copy_n(weights + values.begin, values.count(), fresh + values.begin);
      update_step.update_part(run.backend, gradients, slots, count, norm, values, fresh,
                              [&](int s) { return shares_.of(s, before); });
    });
    freestanding::copy_n(fresh, sizes_.parameters, weights);
    update_step.constrain(run.backend, slots, count);
  }
  /// Makes the losses, statistics and outputs of all parts known to all ranks.
  template <class Run>
  void share_results(Run const& run) {
    int const ranks = communicator_->size();
    auto const first = [&](int rank) {
      Index const part = share_of(parts_, rank, ranks).begin;
      return std::pair{part, freestanding::min(part * sizes_.samples, batch_)};
    };
    results_.share(*communicator_, first, [&](int rank, auto f) {
      Range const parts = share_of(parts_, rank, ranks), samples = samples_of_rank(batch_, sizes_.samples, rank, ranks);
      f(losses_.data() + parts.begin * groups_, parts.count() * groups_);
      f(sums_.data() + parts.begin * sizes_.sums, parts.count() * sizes_.sums);
      T* values = outputs_.data();
      detail::for_each_output(run, [&](std::size_t, auto const& y) {
        f(values + samples.begin * y.columns, samples.count() * y.columns);
        values += batch_ * y.columns;
      });
    });
  }

  /// Finds out from where on all gradients are complete when backward has come to a layer: behind the parameters of the
  /// layers before it. Shared weights belong to the first layer that has them.
  void order_gradients(Slots slots, int count) {
    complete_.reserve(count + 1), passed_.reserve(gradients_.own().count());
    Index* const complete = complete_.data();
    complete[0] = 0;
    for (int i = 0; i < count; ++i)
      complete[i + 1] = freestanding::max(complete[i], slots.slots[i].offset + slots.slots[i].size);
    freestanding::fill_n(passed_.data(), gradients_.own().count(), sizes_.parameters);
  }
  /// From where on all gradients are complete when backward is done with group g, after those from `before` on.
  template <class Program, class G>
  Index complete(Program const& program, G g, Index before) const {
    return program.group(g).head < 0 ? before : complete_.data()[program.slots(g).slots - program.slots().slots];
  }
  /// These values of a part of this rank have come, from `begin` to `end`.
  template <class Run>
  void observe(Run const& run, Index piece, Index begin, Index end) {
    Index const part = gradients_.own().begin + piece;
    statistics_.observe(gradients_.of(part), run.parameters, static_cast<T>(samples_of(part)) / static_cast<T>(batch_),
                        begin, end);
  }
  /// Backward is done with group g of one of this rank's parts. The thread that takes the step lets the gradients
  /// travel that all of these parts have.
  template <class Run, class G>
  void passed(Run const& run, G g, Index piece, int worker) {
    if (!communicator_) return;
    Index* const all = passed_.data();
    Index const now = complete(run.program, g, all[piece]);
    observe(run, piece, now, all[piece]);
    __atomic_store_n(all + piece, now, __ATOMIC_RELEASE);
    if (worker > 0) return;
    Index from = 0;
    for (Index i = 0; i < gradients_.own().count(); ++i)
      from = freestanding::max(from, __atomic_load_n(all + i, __ATOMIC_ACQUIRE));
    gradients_.ready(from);
  }

  template <class Run>
  static constexpr bool synchronizes = may_synchronize&& knows_loss<std::remove_cvref_t<decltype(Run::backend)>>;
  /// The memory of a part: that of the thread that computes it from end to end, or its own for the whole step.
  template <class Run>
  T* workspace_of(Run const& run, Index piece, int worker) {
    Index const place = totals_.stages() > 1 ? piece : worker;
    return place > 0 ? others_.data() + (place - 1) * room_ + sizes_.scratch : run.workspace;
  }
  /// Adds up what the parts have summed, after a stage. On all ranks, what has begun to travel by then is the same.
  template <class Run>
  void synchronize(Run const& run, Index stage) {
    if (communicator_ && stage >= totals_.turn()) {
      Index from = sizes_.parameters;
      run.program.for_each_group_reversed([&](auto g) {
        Group const& group = run.program.group(g);
        if (group.loss < 0 && group.needs_gradient && totals_.backward(stage).over(Index{g}))
          from = complete(run.program, g, from);
      });
      gradients_.ready(from);
    }
    totals_.add_up(stage, communicator_, [&](Index part, Index offset) {
      return workspace_of(run, part - gradients_.own().begin, 0) + offset * samples_of(part);
    });
  }

  template <class Run>
  struct Parts {
    Microbatches& all;
    Run const& run;
    Index stage;

    static void piece(void const* parts, int piece, int worker) { (*static_cast<Parts const*>(parts))(piece, worker); }
    void operator()(Index piece, int worker) const {
      Index const number = all.gradients_.own().begin + piece, first = number * all.sizes_.samples;
      auto backend = run.backend;
      T* const workspace = all.workspace_of(run, piece, worker);
      if constexpr (requires { backend.scratch; }) {
        if (worker > 0) backend.scratch = all.others_.data() + (worker - 1) * all.room_;
      }
      if constexpr (requires { backend.executor; }) backend.executor = nullptr;
      // Random numbers are counted by the rows of a part, so each part takes those of a step of its own.
      std::uint64_t const step = run.step + (static_cast<std::uint64_t>(number) << 40);
      using Part =
          coldpress::Run<typename Run::ProgramType, decltype(backend), Index, std::remove_const_t<decltype(run.state)>>;
      Part part{run.program, backend, run.parameters, workspace, run.inputs, all.samples_of(number), run.seed, step};
      detail::for_each_input(run, [&](std::size_t k, Index columns) { part.inputs[k] += first * columns; });
      if (run.sums) part.sums = all.sums_.data() + number * all.sizes_.sums;
      auto const losses = [&] {
        T* const means = all.losses_.data() + number * all.groups_;
        loss_and_gradient(part, [&](auto g, T mean) { means[Index{g}] = mean; });
        T* values = all.outputs_.data();
        detail::for_each_output(part, [&](std::size_t, auto const& y) {
          freestanding::copy_n(y.data, part.batch * y.columns, values + first * y.columns);
          values += all.batch_ * y.columns;
        });
      };
      GradientSinks<T> const sinks{{all.gradients_.of(number)}, run.program.slots()};
      auto const passed = [&](auto g) { all.passed(run, g, piece, worker); };
      auto const end = [&] { all.observe(run, piece, 0, all.communicator_ ? all.passed_.data()[piece] : PTRDIFF_MAX); };
      auto const& totals = all.totals_;
      if constexpr (synchronizes<Run>) {
        if (totals.stages() > 1) {
          if (stage <= totals.turn()) forward(part, totals.forward(stage));
          if (stage == totals.turn()) losses();
          if (stage >= totals.turn()) backward(part, sinks, Pass::both, passed, totals.backward(stage));
          if (stage == totals.stages() - 1) end();
          return;
        }
      }
      forward(part);
      losses();
      backward(part, sinks, Pass::both, passed);
      end();
    }
  };
  /// Passes the mean of each loss to each(g, mean), and returns the sum of the means.
  template <class Run, class Each>
  T mean_losses(Run const& run, Each each) const {
    T total{};
    run.program.for_each_group([&](auto g) {
      if (run.program.group(g).loss < 0) return;
      double sum = 0;
      for (Index part = 0; part < parts_; ++part)
        sum += static_cast<double>(losses_.data()[part * groups_ + Index{g}]) * static_cast<double>(samples_of(part));
      auto const mean = static_cast<T>(sum / static_cast<double>(batch_));
      each(g, mean);
      total += mean;
    });
    return total;
  }

  Sizes sizes_{};
  Communicator* communicator_ = nullptr;
  bool divides_ = false;  // the optimizer's state
  Index batch_ = 0, parts_ = 0, room_ = 0, groups_ = 0;
  TreeSum<T> gradients_;
  StateShares<T> shares_;
  PartTotals<T> totals_;
  HeapMemory<T> losses_, outputs_, others_;
  HeapMemory<double> sums_;
  ObservedStatistics<T> statistics_;
  SharedResults results_;
  StepPlans plans_;
  HeapMemory<Index> complete_;  // gradients from there on, by the number of the parameter that backward has come to
  HeapMemory<Index> passed_;    // the same for each part of this rank
};

}  // namespace coldpress
