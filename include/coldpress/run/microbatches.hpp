// Training steps that compute a minibatch in parts, each of them forward and backward.
#pragma once

// The values of a part may fit into the cache where those of the minibatch do not; they take less memory, and the parts
// run side by side on the threads of an executor. Each part has gradients of its own. These are added up in pairs,
// pairs of pairs and so on, so no bit depends on the threads.

#include <coldpress/core/executor.hpp>
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

  /// Makes room for steps like this one. Nothing else allocates.
  template <class Run>
  void reserve(Run const& run, Sizes const& sizes) {
    sizes_ = sizes, batch_ = run.batch, parts_ = (batch_ + sizes.samples - 1) / sizes.samples;
    room_ = (sizes.scratch + run.program.plan().workspace * sizes.samples + line - 1) / line * line;
    groups_ = run.program.plan().groups;
    auto const* const executor = detail::executor_of(run.backend);
    Index const others = executor && parts_ > 1 ? executor->workers() - 1 : 0;
    Index columns = 0;
    detail::for_each_output(run, [&](std::size_t, auto const& y) { columns += y.columns; });
    gradients_.reserve(parts_ * sizes.parameters), losses_.reserve(parts_ * groups_),
        sums_.reserve(parts_ * sizes.sums);
    outputs_.reserve(batch_ * columns), others_.reserve(others * room_);
  }
  /// Takes a step (train_step in run/update.hpp) after reserve(run, ...). The caller works in the workspace of `run`,
  /// which has room for one part. `gradients` holds those of earlier minibatches of the update.
  template <class Run, class Optimizer, class Each>
  T train_step(Run const& run, UpdateStep<Optimizer, T> update_step, T* gradients, Each each) {
    freestanding::fill_n(sums_.data(), parts_ * sizes_.sums, 0);
    Parts<Run> const all{*this, run};
    auto* const executor = detail::executor_of(run.backend);
    if (executor && parts_ > 1) {
      executor->run({static_cast<int>(parts_), Parts<Run>::piece, &all});
    } else {
      for (Index part = 0; part < parts_; ++part) all(part, 0);
    }
    T const loss = mean_losses(run, each);
    if (run.sums) {
      for (Index i = 0; i < parts_ * sizes_.sums; ++i) run.sums[i % sizes_.sums] += sums_.data()[i];
    }
    if (!(loss - loss == 0)) return loss;
    Index const size = sizes_.parameters;
    for (Index apart = 1; apart < parts_; apart *= 2) {
      for (Index part = 0; part + apart < parts_; part += 2 * apart)
        add(gradients_of(part), gradients_of(part + apart), size);
    }
    update_step.adds() ? add(gradients, gradients_of(0), size) : freestanding::copy_n(gradients_of(0), size, gradients);
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

  T* gradients_of(Index part) { return gradients_.data() + part * sizes_.parameters; }
  Index samples_of(Index part) const { return freestanding::min(sizes_.samples, batch_ - part * sizes_.samples); }
  static void add(T* __restrict to, T const* __restrict from, Index size) {
    for (Index i = 0; i < size; ++i) to[i] += from[i];
  }

  template <class Run>
  struct Parts {
    Microbatches& all;
    Run const& run;

    static void piece(void const* parts, int number, int worker) {
      (*static_cast<Parts const*>(parts))(number, worker);
    }
    void operator()(Index number, int worker) const {
      Index const first = number * all.sizes_.samples;
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
  Index batch_ = 0, parts_ = 0, room_ = 0, groups_ = 0;
  HeapMemory<T> gradients_, losses_, outputs_, others_;
  HeapMemory<double> sums_;
};

}  // namespace coldpress
