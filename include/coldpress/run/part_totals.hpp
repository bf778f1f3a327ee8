// The stages of a step in which the parts of a minibatch add up what their layers have summed.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/run/execute.hpp>

namespace coldpress {

/// The first stages are those of forward. In the last of them, `turn()`, the losses follow and backward begins. Between
/// two stages, one layer's sums are added up over all parts, in the order of a binary tree over the numbers of the
/// parts, so no bit depends on which rank or thread has computed them.
template <class T>
class PartTotals {
 public:
  /// Finds out which stages the passes of a program have, for a minibatch of so many samples in so many parts. Nothing
  /// else allocates. If they are not to synchronise, there is one stage.
  template <class Run>
  void reserve(Run const& run, bool synchronized, Index parts, Index samples) {
    parts_ = parts, samples_ = samples, turn_ = 0, stages_ = 1;
    if (!synchronized || parts == 1) return;
    groups_ = run.program.plan().groups;
    of_groups_.reserve(2 * groups_), sums_.reserve(groups_ * (Totals::most + 1));
    Index most = 0;
    auto const waits = [&](auto g, Totals::Sums const& sums) {
      Buffer const& memory = run.program.group(g).memory;
      require(sums.first >= 0 && sums.count >= 0 && sums.first + sums.count <= memory.size,
              "sync_batch_normalization: a layer's totals(in) are beyond its memory(in)");
      sums_.data()[stages_++ - 1] = {memory.offset, sums};
      most = freestanding::max(most, sums.count);
    };
    run.program.for_each_group([&](auto g) {
      PartStage::Range& range = of_groups_.data()[Index{g}];
      range.first = stages_ - 1;
      Group const& group = run.program.group(g);
      if (group.needed && group.loss < 0 && group.statistic < 0) {
        Totals const totals = totals_of_head(run, g);
        for (int k = 0; k < totals.forward_count(); ++k) waits(g, totals.forward[k]);
      }
      range.last = stages_ - 1;
    });
    turn_ = stages_ - 1;
    run.program.for_each_group_reversed([&](auto g) {
      PartStage::Range& range = of_groups_.data()[groups_ + g];
      range.first = range.last = stages_ - 1;
      Group const& group = run.program.group(g);
      if (group.loss >= 0 || !group.needs_gradient) return;
      bool propagates = false;
      detail::for_each_passed(run, g, [&](auto k) { propagates = propagates || k != group.side; });
      Totals const totals = totals_of_head(run, g);
      if (propagates && totals.backward.count > 0) waits(g, totals.backward);
      range.last = stages_ - 1;
    });
    all_.reserve(parts * most);
  }
  Index stages() const { return stages_; }
  Index turn() const { return turn_; }
  PartStage forward(Index stage) const { return {stage, of_groups_.data(), samples_}; }
  PartStage backward(Index stage) const { return {stage, of_groups_.data() + groups_, samples_}; }

  /// Adds up after a stage. values_of(part) is the workspace of one of this rank's parts, at the offset per sample that
  /// it is given.
  template <class ValuesOf>
  void add_up(Index stage, Communicator* communicator, ValuesOf values_of) {
    auto const [offset, sums] = sums_.data()[stage];
    Index const count = sums.count;
    int const rank = communicator ? communicator->rank() : 0, ranks = communicator ? communicator->size() : 1;
    auto const [first, last] = share_of(parts_, rank, ranks);
    T* const all = all_.data();
    for (Index part = first; part < last; ++part)
      freestanding::copy_n(values_of(part, offset) + sums.first, count, all + part * count);
    if (communicator) {
      communicator->share(
          all, [&](int r) { return static_cast<std::size_t>(share_of(parts_, r, ranks).begin * count) * sizeof(T); });
    }
    for (Index apart = 1; apart < parts_; apart *= 2) {
      for (Index a = 0; a + apart < parts_; a += 2 * apart) {
        T* const to = all + a * count;
        T const* const from = to + apart * count;
        for (Index i = 0; i < count; ++i) to[i] += from[i];
      }
    }
    for (Index part = first; part < last; ++part)
      freestanding::copy_n(all, count, values_of(part, offset) + sums.first);
  }

 private:
  struct Place {
    Index offset;  // of the layer's memory, per sample
    Totals::Sums sums;
  };
  /// A function of its own, since clang otherwise looks at the inputs of a head where there is none, too.
  template <class L, class Run, class G>
  static Totals totals_in(Run const& run, L const& layer, G g) {
    return totals_of(layer, run.program.head_inputs(g));
  }
  template <class Run, class G>
  static Totals totals_of_head(Run const& run, G g) {
    Totals totals{};
    run.program.head(
        g, [&](auto const& layer) { totals = totals_in(run, layer, g); }, [] {});
    return totals;
  }

  Index parts_ = 0, samples_ = 0, groups_ = 0, stages_ = 1, turn_ = 0;
  HeapMemory<PartStage::Range> of_groups_;  // those of forward, then those of backward
  HeapMemory<Place> sums_;                  // after each stage but the last
  HeapMemory<T> all_;                       // of all parts
};

}  // namespace coldpress
