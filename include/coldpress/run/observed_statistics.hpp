// What the parts of a minibatch observe for running statistics.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/core/parameter.hpp>

namespace coldpress {

/// The running statistics of a network, each with the number of layers that observe it. Layers add what they observe to
/// a part's gradients. It counts there by the part's share of the samples, so that a minibatch is one observation.
template <class T>
class ObservedStatistics {
 public:
  /// `distances`: a sum is of the distances from the running statistic, because it is rounded: the rounding error of a
  /// distance vanishes where that of a mean far from zero would stay.
  template <class Run>
  void reserve(Run const& run, bool distances) {
    distances_ = distances, count_ = 0;
    auto const [slots, parameters] = run.program.slots();
    int const count = run.program.parameter_count();
    all_.reserve(count);
    for (int i = 0; i < count; ++i) {
      if (!parameters[i].is_statistic() || slots[i].shared) continue;
      int uses = 0;
      for (int use = 0; use < count; ++use) uses += slots[use].owner == i && slots[use].observes;
      if (uses > 0) all_.data()[count_++] = {slots[i].offset, slots[i].size, static_cast<T>(uses)};
    }
  }
  /// The values from `begin` to `end` of a part have come, which has this share of the samples.
  void observe(T* gradients, T const* parameters, T share, Index begin, Index end) const {
    for_each([&](Statistic const& statistic) {
      if (statistic.offset < begin || statistic.offset >= end) return;
      T* const observed = gradients + statistic.offset;
      T const* const now = parameters + statistic.offset;
      for (Index i = 0; i < statistic.size; ++i) {
        if (distances_) observed[i] -= statistic.uses * now[i];
        observed[i] *= share;
      }
    });
  }
  /// Makes sums of distances those of what was observed.
  void restore(T* sums, T const* parameters) const {
    if (!distances_) return;
    for_each([&](Statistic const& statistic) {
      for (Index i = statistic.offset; i < statistic.offset + statistic.size; ++i)
        sums[i] += statistic.uses * parameters[i];
    });
  }

 private:
  struct Statistic {
    Index offset, size;  // among the parameters
    T uses;
  };
  template <class F>
  void for_each(F f) const {
    for (Index i = 0; i < count_; ++i) f(all_.data()[i]);
  }

  HeapMemory<Statistic> all_;
  Index count_ = 0;
  bool distances_ = false;
};

}  // namespace coldpress
