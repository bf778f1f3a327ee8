// Ranks that take a step together must take the same one.
#pragma once

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/run/update.hpp>

namespace coldpress {

/// What ranks must have in common to take a step, as numbers.
struct StepPlan {
  std::uint64_t step, batch, microbatch, synchronized, update;
  bool operator==(StepPlan const&) const = default;

  /// A number for `update`: of how weights are updated, and of what of it is the ranks'.
  template <class Optimizer, class T>
  static std::uint64_t number_of(UpdateStep<Optimizer, T> const& update_step, Slots slots, int count, bool bfloat16,
                                 bool divides) {
    Fingerprint update;
    update.word(bfloat16), update.word(divides);
    update.word(update_step.adds()), update.word(update_step.updates());
    update.word(divides && update_step.needs_all_gradients());  // which then travel, too
    for (int i = 0; i < count; ++i) {
      auto const sink = update_step.sink(slots, count, i, 1e30);  // the norm of gradients that are clipped, if any are
      float const numbers[] = {sink.optimizer.learning_rate, sink.scale, sink.decay, sink.bound};
      for (float const number : numbers) update.word(bits_of(number));
      if constexpr (requires { sink.optimizer.momentum; }) update.word(bits_of(sink.optimizer.momentum));
      update.word(sink.frozen);
    }
    return update.number;
  }
};

/// The plans of all ranks.
class StepPlans {
 public:
  void reserve(Communicator const& communicator) { plans_.reserve(communicator.size()); }
  /// Throws MismatchError, the same on all ranks, if another rank has another plan than this one has.
  void compare(Communicator& communicator, StepPlan const& own) {
    StepPlan* const plans = plans_.data();
    plans[communicator.rank()] = own;
    communicator.share(plans, [](int rank) { return static_cast<std::size_t>(rank) * sizeof(StepPlan); });
    for (int rank = 1; rank < communicator.size(); ++rank) {
      if (!(plans[rank] == plans[0])) refuse(rank, plans[rank], plans[0]);
    }
  }

 private:
  [[noreturn]] __attribute__((noinline, cold)) static void refuse(int rank, StepPlan const& its,
                                                                  StepPlan const& first) {
    auto const differ = [&](char const* verb, std::uint64_t a, char const* things, std::uint64_t b) {
      raise<MismatchError>(sentence_of("rank ", rank, verb, static_cast<Index>(a), things, ", but rank 0", verb,
                                       static_cast<Index>(b), things));
    };
    if (its.step != first.step) differ(" takes step ", its.step, "", first.step);
    if (its.batch != first.batch) differ(" trains on a minibatch of ", its.batch, " samples", first.batch);
    if (its.microbatch != first.microbatch) differ(" has parts of ", its.microbatch, " samples", first.microbatch);
    if (its.synchronized != first.synchronized) {
      auto const of = [](StepPlan const& plan) { return plan.synchronized ? "the whole minibatch" : "its parts"; };
      raise<MismatchError>(sentence_of("rank ", rank, " normalises by the statistics of ", of(its),
                                       ", but rank 0 by those of ", of(first)));
    }
    raise<MismatchError>(sentence_of("rank ", rank,
                                     " does not update the weights as rank 0 does: other weights are frozen, or the "
                                     "optimizer or the options of the solver are others"));
  }

  HeapMemory<StepPlan> plans_;
};

}  // namespace coldpress
