// Sums and loops over the lines of each sample, in stages that may read what the stages before have computed.
#pragma once

// A CPU takes one part of a sample after another through all stages, so that its values stay in the cache. A GPU
// computes one stage after another for all parts, and each sum with many threads.

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>

namespace coldpress {

/// Computes Σ of(l)(j) over j < width for each line l, and then calls finish(l, sum). Each part has `lines` lines, and
/// l counts those of all parts of all samples.
template <class Of, class Finish>
struct LineSum {
  Index lines, width;
  Of of;
  Finish finish;

  template <class T>
  constexpr void line(Index l) const {
    finish(l, sum_over<T>(width, of(l)));
  }
  template <class T>
  constexpr void all(auto const& backend, Index parts) const {
    backend.each_sum(
        parts * lines, width, width < 32 ? 32 : 1, [&](Index l, Index j) { return of(l)(j); }, finish);
  }
};
template <class Of, class Finish>
LineSum(Index, Index, Of, Finish) -> LineSum<Of, Finish>;

/// Calls of(l)(j) for each j < width of each line l.
template <class Of>
struct LineLoop {
  Index lines, width;
  Of of;

  template <class T>
  constexpr void line(Index l) const {
    auto const f = of(l);
    for (Index j = 0; j < width; ++j) f(j);
  }
  template <class T>
  constexpr void all(auto const& backend, Index parts) const {
    backend.each(parts * lines * width, [&](Index e) { of(e / width)(e % width); });
  }
};
template <class Of>
LineLoop(Index, Index, Of) -> LineLoop<Of>;

/// Runs the stages for samples like those of x, each of which has `parts` parts. A stage may read what the stages
/// before it have written for the same part.
template <class Backend, class X, class... Stages>
constexpr void in_stages(Backend const& backend, X const& x, Index parts, Stages const&... stages) {
  using T = typename X::Scalar;
  if constexpr (many_threads<Backend>) {
    (stages.template all<T>(backend, x.rows * parts), ...);
  } else {
    each_sample(backend, x, [&](Index n) {
      for (Index part = n * parts; part < (n + 1) * parts; ++part) {
        auto const all = [&](auto const& stage) {
          for (Index l = part * stage.lines; l < (part + 1) * stage.lines; ++l) stage.template line<T>(l);
        };
        (all(stages), ...);
      }
    });
  }
}

}  // namespace coldpress
