// Estimates the launches of a static network's passes on a GPU, by a dry run on the host.
#pragma once

// It needs no GPU: it runs the kernels' function with a backend that computes nothing.

#include <coldpress/run/passes.hpp>
#include <coldpress/run/update.hpp>

namespace coldpress {

/// Whether a backend's passes are GPU kernels.
template <class Backend>
concept AsksForBlocks = requires(Backend const& backend, void (*pass)()) {
  launch_estimate_of(backend, pass);
};

namespace detail {
/// A run of `batch` samples without memory.
template <class Net, class Program>
auto run_nowhere(Program const& program, Index batch, std::uint64_t step) {
  static typename Net::T nowhere{};
  auto const count = Net::Batch::count(batch);
  typename Net::Backend backend{};
  Program::lend_workers(backend);
  Run<Program, typename Net::Backend, std::remove_const_t<decltype(count)>> run{program, backend, &nowhere, &nowhere,
                                                                                {},      count,   0,        step};
  run.inputs.fill(&nowhere);
  return run;
}
}  // namespace detail

/// The launch estimate for a network's forward pass over `batch` samples. `products` receives what the backend knows of
/// its matrix products, in order.
template <class Net, class... Products>
requires AsksForBlocks<typename Net::Backend>
auto launch_estimate_of(Net const&, Index batch, Products*... products) {
  typename Net::Inference const program{};
  auto const run = detail::run_nowhere<Net>(program, batch, 0);
  return launch_estimate_of(
      run.backend, [&] { ForwardOf{}(run); }, products...);
}
/// The launch estimate for a step of a solver.
template <class Solver, class... Products,
          class Net = std::remove_cvref_t<decltype(std::declval<Solver const&>().network())>>
requires AsksForBlocks<typename Net::Backend>
auto launch_estimate_of(Solver const& solver, Index batch, Products*... products) {
  using T = typename Net::T;
  typename Solver::Program const program{};
  auto const run = detail::run_nowhere<Net>(program, batch, 1);
  T* const nowhere = run.workspace;
  UpdateSink<typename Solver::Optimizer, T> sink{solver.optimizer(), 0, nowhere, {}};
  for (T*& state : sink.state) state = nowhere;
  UpdateStep<typename Solver::Optimizer, T> const update_step{sink, Solver::options, solver.minibatch_size,
                                                              {},   run.batch,       nullptr};
  std::array<bool, Net::Graph::parameter_count> const frozen{};
  auto const step = [&] {
    if constexpr (Solver::fused) {
      typename Solver::Step{}(run, update_step, frozen, nullptr, nowhere);
    } else {
      typename Solver::Step{}(run, update_step, frozen, nowhere, nowhere);
    }
  };
  return launch_estimate_of(run.backend, step, products...);
}

}  // namespace coldpress
