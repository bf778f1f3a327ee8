// Layers whose results depend on sums over all samples, and passes that compute them for a part of a minibatch.
#pragma once

#include <coldpress/core/layer_traits.hpp>

namespace coldpress {

/// What a layer sums over the samples of a minibatch, as totals(in) says. Where a minibatch is computed in parts that
/// synchronise, forward is called once for each phase, on every part; between two phases, the sums of all parts are
/// added up, and each part gets the total in their place.
struct Totals {
  /// Values of the layer's memory. They are in that of the first sample, because a part may have no other.
  struct Sums {
    Index first = 0, count = 0;
  };
  static constexpr int most = 4;
  Sums forward[most] = {};  // of each phase but the last, the first ones
  Sums backward = {};       // made by backward; backward_parameters reads those of the part, backward_input the totals

  constexpr int forward_count() const {
    int count = 0;
    while (count < most && forward[count].count > 0) ++count;
    return count;
  }
};
template <class L>
constexpr bool has_totals = requires(L const& layer, detail::Asked<L> in) {
  layer.totals(in);
};
template <Layer L>
constexpr Totals totals_of(L const& layer, Shapes in) {
  if constexpr (has_totals<L>) {
    return layer.totals(detail::asked<L>(in));
  } else {
    return {};
  }
}

/// A pass of such a layer over a part of a minibatch.
template <class Pass>
struct PartPass : Pass {
  int phase;      // the only one that forward computes, or all_phases
  Index samples;  // of the minibatch; 0: it is one part
};
/// The phases follow each other, as in every other pass.
inline constexpr int all_phases = -1;
template <class Pass>
constexpr int phase_of([[maybe_unused]] Pass const& pass) {
  if constexpr (requires { pass.phase; }) {
    return pass.phase;
  } else {
    return all_phases;
  }
}
/// The number of samples in the minibatch, where this pass has so many.
template <class Pass, class Count>
constexpr auto samples_of([[maybe_unused]] Pass const& pass, Count here) {
  if constexpr (requires { pass.samples; }) {
    return pass.samples > 0 ? pass.samples : Index{here};
  } else {
    return here;
  }
}
/// The pass `made` for a layer of type L, with what `pass` has of a part if such layers may compute one.
template <class L, class Pass, class Made>
constexpr auto as_part([[maybe_unused]] Pass const& pass, Made const& made) {
  if constexpr (has_totals<L>) {
    return PartPass<Made>{made, phase_of(pass), samples_of(pass, Index{0})};
  } else {
    return made;
  }
}

}  // namespace coldpress
