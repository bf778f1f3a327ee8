// Which of a plan's groups a pass computes: all of them, or those of one stage.
#pragma once

#include <coldpress/core/totals.hpp>

namespace coldpress {

/// A pass that computes everything.
struct WholePass {
  static constexpr bool in_part = false;
  constexpr bool has(auto) const { return true; }
  constexpr bool begins(auto) const { return true; }
  constexpr bool ends(auto) const { return true; }
};

/// What a part of a minibatch computes between two sums over all parts. A group whose layer is one of those that sum
/// (core/totals.hpp) takes several stages; others take one.
struct PartStage {
  struct Range {
    Index first, last;
  };
  static constexpr bool in_part = true;
  Index number;
  Range const* of_groups;
  Index samples;  // of the minibatch

  constexpr Range of(Index g) const { return of_groups[g]; }
  constexpr bool has(Index g) const { return of(g).first <= number && number <= of(g).last; }
  constexpr bool begins(Index g) const { return number == of(g).first; }
  constexpr bool ends(Index g) const { return number == of(g).last; }
  constexpr bool over(Index g) const { return of(g).last <= number; }
  constexpr int phase(Index g) const {
    return begins(g) && ends(g) ? all_phases : static_cast<int>(number - of(g).first);
  }
};

namespace detail {
/// The pass of a layer of type L in group g, as the stage has it.
template <class L, class Stage, class Pass>
__attribute__((always_inline)) constexpr auto staged([[maybe_unused]] Stage const& stage, [[maybe_unused]] Index g,
                                                     Pass const& pass) {
  if constexpr (Stage::in_part && has_totals<L>) {
    return PartPass<Pass>{pass, stage.phase(g), stage.samples};
  } else {
    return pass;
  }
}
}  // namespace detail

}  // namespace coldpress
