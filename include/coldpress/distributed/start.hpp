// Begins a training on several ranks, which must agree on what they train.
#pragma once

#include <coldpress/data/source.hpp>
#include <coldpress/persist/network.hpp>
#include <coldpress/run/communicator.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coldpress::distributed {

/// Something that must be the same on all ranks, such as {"batch", "64"}.
struct Fact {
  std::string name, value;
};
using Facts = std::vector<Fact>;

/// Throws MismatchError, the same on all ranks, if a rank has other facts than rank 0: it names the rank, the first
/// fact that differs, and both values.
void check_same(Communicator& communicator, Facts const& facts);

/// The version of coldpress, the instruction set level of its ready-made kernels, and what a solver begins with:
/// network, weights, optimizer, its state, progress and seed. Weights and states are told by a hash.
Facts facts_of(persist::Checkpoint const& checkpoint);
/// For example {"the data", "60000 samples of {28, 28}, targets of {1}"}, and a hash of the values of some samples from
/// the first to the last, which are read: 64 of them, or fewer large ones. Throws what reading throws.
Facts facts_of_data(std::string const& name, data::Source const& source);

/// Whether ranks divide the optimizer's state, which a checkpoint does not say.
template <class Solver>
Fact fact_of_sharding(Solver const& solver) {
  SolverOptions const& options = [&]() -> SolverOptions const& {
    if constexpr (requires { Solver::objective; }) {
      return Solver::options;
    } else {
      return solver.options();
    }
  }();
  return {"shard_optimizer", options.shard_optimizer ? "true" : "false"};
}

/// Checks that all ranks begin a solver, a coldpress::Solver or a dynamic::Solver, with the same facts, and divides its
/// steps among them. The communicator is borrowed. `more` are facts that the solver does not know, such as those of the
/// data. Throws MismatchError, and what distribute_over throws; then the solver has not changed.
template <class Solver>
void start(Solver& solver, Communicator& communicator, Facts const& more = {}) {
  Facts facts = facts_of(persist::checkpoint_of(solver));
  facts.push_back(fact_of_sharding(std::as_const(solver)));
  facts.insert(facts.end(), more.begin(), more.end());
  check_same(communicator, facts);
  solver.distribute_over(&communicator);
}

}  // namespace coldpress::distributed
