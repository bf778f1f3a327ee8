// The state of an optimizer, divided among ranks (ZeRO-1: Rajbhandari et al. 2020).
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/run/tree_sum.hpp>

namespace coldpress {

/// Where buffers with the layout of the parameters are, that ranks may divide: here as a whole, a share on each rank,
/// or, gathered since the last step, both.
struct Whereabouts {
  enum Place { whole, shares, both };
  Place state = whole;      // of the optimizer
  Place gradients = whole;  // of the minibatches of the update
  /// What was gathered stays, when those who have shares of it are no longer asked.
  void leave_ranks() {
    if (state == both) state = whole;
    if (gradients == both) gradients = whole;
  }
  /// Throws UnsupportedError if a buffer is not here.
  static void check(Place place) {
    if (place == shares)
      raise<UnsupportedError>(
          "solver: each rank has a share of the optimizer's state and of the gradients (shard_optimizer); they are "
          "known "
          "after gather_state(), which all ranks call, and which a Trainer calls for callbacks with reads_state");
  }
};

/// Buffers of `size` values each that ranks may divide, as StateShares knows them. The states are one after another,
/// and zero while they have no memory.
template <class T, int states>
struct BuffersInARow {
  HeapMemory<T>& all_states;
  T* all_gradients;
  Index size;
  Whereabouts& where;
  T* gradients() const { return all_gradients; }
  T const* known_state(int s) const { return all_states.size() > 0 ? all_states.data() + s * size : nullptr; }
  T* state(int s) const {
    all_states.reserve(states * size);
    return all_states.data() + s * size;
  }
  void drop_states() const { all_states = {}; }
};

/// This rank's share of the states of an optimizer: of each, the values that this rank adds up in a TreeSum.
template <class T>
class StateShares {
 public:
  /// The values from `at` of this rank's share on, of state s.
  T* of(int s, Index at) { return values_.data() + s * share_ + at; }
  bool belong_to(Communicator const& communicator) const {
    return communicator.rank() == rank_ && communicator.size() == ranks_;
  }

  /// Takes them from the buffers, where they then no longer are: known_state(s) is the address of state s, or null for
  /// zeros, and drop_states() frees them all.
  template <class Buffers>
  void take(TreeSum<T> const& sum, Communicator const& communicator, int states, Buffers& buffers) {
    share_ = 0;
    sum.for_each_share([&](Range values, Index) { share_ += values.count(); });
    values_.reserve(states * share_);
    rank_ = communicator.rank(), ranks_ = communicator.size();
    for (int s = 0; s < states; ++s) {
      T const* const whole = buffers.known_state(s);
      sum.for_each_share([&](Range values, Index at) {
        whole ? freestanding::copy_n(whole + values.begin, values.count(), of(s, at))
              : freestanding::fill_n(of(s, at), values.count(), 0);
      });
    }
    buffers.drop_states();
    buffers.where.state = Whereabouts::shares;
  }
  /// Makes them known to rank 0, or to all ranks, which must all call this: state(s) allocates state s, and gradients()
  /// is where those are that wait for their update, if `waiting` says that there are any.
  template <class Buffers>
  void gather(TreeSum<T>& sum, int states, bool waiting, bool everywhere, Buffers& buffers) {
    bool const receives = everywhere || rank_ == 0, known = buffers.where.state == Whereabouts::both;
    if (buffers.where.state != Whereabouts::whole) {
      for (int s = 0; s < states; ++s) {
        T* const whole = receives || known ? buffers.state(s) : nullptr;
        sum.gather_shares(whole, everywhere,
                          [&](Range values, Index at) -> T const* { return known ? whole + values.begin : of(s, at); });
      }
      if (receives) buffers.where.state = Whereabouts::both;
    }
    if (!waiting || buffers.where.gradients == Whereabouts::whole) return;
    T* const gradients = buffers.gradients();
    sum.gather_shares(gradients, everywhere, [&](Range values, Index) { return gradients + values.begin; });
    if (receives) buffers.where.gradients = Whereabouts::both;
  }

 private:
  HeapMemory<T> values_;
  Index share_ = 0;  // values of a state
  int rank_ = 0, ranks_ = 0;
};

}  // namespace coldpress
