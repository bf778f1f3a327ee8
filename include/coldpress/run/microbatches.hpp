// Training steps that compute a minibatch in parts, each of them forward and backward.
#pragma once

// The values of a part may fit into the cache where those of the minibatch do not; they take less memory, and the parts
// run side by side on the threads of an executor. Each part has gradients of its own. These are added up in pairs,
// pairs of pairs and so on, so no bit depends on the threads, nor on the processes that take the step together.

#include <coldpress/core/executor.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/run/update.hpp>

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

/// The memory of such steps.
template <class T>
class Microbatches {
 public:
  /// What a step has to know about a network, in values.
  struct Sizes {
    Index samples;     // per part, of which the last may have fewer
    Index scratch;     // before a workspace
    Index parameters;  // of which there are gradients
    Index sums;        // of losses and statistics
  };

  /// Makes all ranks compute equally many parts, give or take one, of each step. The communicator is borrowed; null:
  /// this process computes them all. Each rank is given the whole minibatch, and knows losses, statistics, outputs and
  /// the sum of the gradients after the step, so all of them take the same one.
  void distribute_over(Communicator* communicator) { communicator_ = communicator; }

  /// Makes room for steps like this one. Nothing else allocates.
  template <class Run>
  void reserve(Run const& run, Sizes const& sizes) {
    sizes_ = sizes, batch_ = run.batch, parts_ = (batch_ + sizes.samples - 1) / sizes.samples;
    first_ = communicator_ ? first_of(communicator_->rank()) : 0;
    own_ = communicator_ ? first_of(communicator_->rank() + 1) - first_ : parts_;
    room_ = (sizes.scratch + run.program.plan().workspace * sizes.samples + line - 1) / line * line;
    groups_ = run.program.plan().groups;
    auto const* const executor = detail::executor_of(run.backend);
    Index const others = executor && own_ > 1 ? executor->workers() - 1 : 0;
    Index columns = 0;
    detail::for_each_output(run, [&](std::size_t, auto const& y) { columns += y.columns; });
    // One more for what comes from other ranks; a rank without parts has the total there.
    gradients_.reserve((own_ + (communicator_ ? 1 : 0)) * sizes.parameters), losses_.reserve(parts_ * groups_),
        sums_.reserve(parts_ * sizes.sums);
    outputs_.reserve(batch_ * columns), others_.reserve(others * room_);
  }
  /// Takes a step (train_step in run/update.hpp) after reserve(run, ...). The caller works in the workspace of `run`,
  /// which has room for one part. `gradients` holds those of earlier minibatches of the update. If another rank fails,
  /// this throws before anything has changed.
  template <class Run, class Optimizer, class Each>
  T train_step(Run const& run, UpdateStep<Optimizer, T> update_step, T* gradients, Each each) {
    freestanding::fill_n(sums_.data(), parts_ * sizes_.sums, 0);
    Parts<Run> const all{*this, run};
    auto* const executor = detail::executor_of(run.backend);
    if (executor && own_ > 1) {
      executor->run({static_cast<int>(own_), Parts<Run>::piece, &all});
    } else {
      for (Index part = 0; part < own_; ++part) all(part, 0);
    }
    add_parts();
    if (communicator_) share_results(run);
    T const loss = mean_losses(run, each);
    if (run.sums) {
      for (Index i = 0; i < parts_ * sizes_.sums; ++i) run.sums[i % sizes_.sums] += sums_.data()[i];
    }
    if (!(loss - loss == 0)) return loss;
    Index const size = sizes_.parameters;
    T const* const total = gradients_.data();
    update_step.adds() ? add(gradients, total, size) : freestanding::copy_n(total, size, gradients);
    update_step.split(parts_);
    update_step.finish(run.backend, gradients, run.program.slots(), run.program.parameter_count());
    return loss;
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

  /// The first part of a rank. The rank of a part is the last whose first part is not behind it.
  Index first_of(Index rank) const { return (rank * parts_ + communicator_->size() - 1) / communicator_->size(); }
  int rank_of(Index part) const { return static_cast<int>(part * communicator_->size() / parts_); }
  T* gradients_of(Index part) { return gradients_.data() + (part - first_) * sizes_.parameters; }
  Index samples_of(Index part) const { return freestanding::min(sizes_.samples, batch_ - part * sizes_.samples); }
  static void add(T* __restrict to, T const* __restrict from, Index size) {
    for (Index i = 0; i < size; ++i) to[i] += from[i];
  }

  /// Adds the gradients of all parts: those of part + apart to those of `part`, for apart = 1, 2, 4, ... Where two
  /// ranks have them, they travel. Then rank 0, which has part 0, sends the total to all.
  void add_parts() {
    Index const size = sizes_.parameters;
    auto const bytes = static_cast<std::size_t>(size) * sizeof(T);
    T* const received = gradients_.data() + own_ * size;  // if there are other ranks
    auto const has = [&](Index part) { return part >= first_ && part < first_ + own_; };
    for (Index apart = 1; apart < parts_; apart *= 2) {
      for (Index part = 0; part + apart < parts_; part += 2 * apart) {
        Index const other = part + apart;
        if (has(part) && has(other)) {
          add(gradients_of(part), gradients_of(other), size);
        } else if (has(part)) {
          communicator_->receive(received, bytes, rank_of(other));
          add(gradients_of(part), received, size);
        } else if (has(other)) {
          communicator_->send(gradients_of(other), bytes, rank_of(part));
        }
      }
    }
    if (communicator_) communicator_->broadcast(gradients_.data(), bytes);
  }
  /// Makes the losses, statistics and outputs of all parts known to all ranks.
  template <class Run>
  void share_results(Run const& run) {
    auto const share = [&](auto* values, Index per_part, Index most) {  // the last part may have fewer
      communicator_->share(values, [&](int rank) {
        return static_cast<std::size_t>(freestanding::min(first_of(rank) * per_part, most)) * sizeof(*values);
      });
    };
    share(losses_.data(), groups_, parts_ * groups_);
    share(sums_.data(), sizes_.sums, parts_ * sizes_.sums);
    T* values = outputs_.data();
    detail::for_each_output(run, [&](std::size_t, auto const& y) {
      share(values, sizes_.samples * Index{y.columns}, batch_ * y.columns);
      values += batch_ * y.columns;
    });
  }

  template <class Run>
  struct Parts {
    Microbatches& all;
    Run const& run;

    static void piece(void const* parts, int piece, int worker) { (*static_cast<Parts const*>(parts))(piece, worker); }
    void operator()(Index piece, int worker) const {
      Index const number = all.first_ + piece, first = number * all.sizes_.samples;
      auto backend = run.backend;
      T* workspace = run.workspace;
      if (worker > 0) {
        T* const own = all.others_.data() + (worker - 1) * all.room_;
        if constexpr (requires { backend.scratch; }) backend.scratch = own;
        workspace = own + all.sizes_.scratch;
      }
      if constexpr (requires { backend.executor; }) backend.executor = nullptr;
      // Random numbers are counted by the rows of a part, so each part takes those of a step of its own.
      std::uint64_t const step = run.step + (static_cast<std::uint64_t>(number) << 40);
      using Part =
          coldpress::Run<typename Run::ProgramType, decltype(backend), Index, std::remove_const_t<decltype(run.state)>>;
      Part part{run.program, backend, run.parameters, workspace, run.inputs, all.samples_of(number), run.seed, step};
      detail::for_each_input(run, [&](std::size_t k, Index columns) { part.inputs[k] += first * columns; });
      if (run.sums) part.sums = all.sums_.data() + number * all.sizes_.sums;
      forward(part);
      T* const losses = all.losses_.data() + number * all.groups_;
      loss_and_gradient(part, [&](auto g, T mean) { losses[Index{g}] = mean; });
      T* values = all.outputs_.data();
      detail::for_each_output(part, [&](std::size_t, auto const& y) {
        freestanding::copy_n(y.data, part.batch * y.columns, values + first * y.columns);
        values += all.batch_ * y.columns;
      });
      backward(part, GradientSinks<T>{{all.gradients_of(number)}, run.program.slots()});
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
  Index batch_ = 0, parts_ = 0, room_ = 0, groups_ = 0;
  Index first_ = 0, own_ = 0;  // of the parts, those of this rank
  HeapMemory<T> gradients_, losses_, outputs_, others_;
  HeapMemory<double> sums_;
};

}  // namespace coldpress
