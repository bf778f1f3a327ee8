// The layer LearnedPositions: adds to each step of a sequence a learned vector of its position.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/positions.hpp>
#include <coldpress/core/sums.hpp>

#include <limits>

namespace coldpress {

/// y[t] = x[t] + W[t] for samples {steps, features}, with a table W {most, features} that is learned, as in GPT-2, and
/// is initially Gaussian with a deviation of 0.02. A sample {features} is one step. A stream goes on counting from call
/// to call; from the step `most` on, counted from 0, it is NaN.
struct LearnedPositions {
  static constexpr std::string_view name = "learned_positions";
  Index most = 512;  // steps
  Weight weight = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() == 1 || in.rank() == 2, "learned_positions: a sample must be {steps, features} or {features}");
    require(most >= 1 && most <= Index{1} << 24, "learned_positions: most must be from 1 to 2^24");
    if (!require.failed()) require(steps_of(in) <= most, "learned_positions: a sequence has more than `most` steps");
    return in;
  }
  constexpr auto parameters(Shape const& in) const {
    return std::array{Parameter{.name = "weight",
                                .suffix = "-0",
                                .shape = {most, in.last()},
                                .filler = Gaussian{.deviation = 0.02f},
                                .fan_in = most,
                                .fan_out = in.last(),
                                .row_major = true}
                          .with(weight)};
  }
  /// The number of steps so far.
  constexpr Index state(Shape const&) const { return 1; }
  constexpr Index remembers(Shape const&) const { return 0; }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.training ? most * in.last() : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    Index const width = pass.in.last();
    T* const counts = pass.state;
    each_part(backend, pass.y, pass.in.size(), [&](Index n, auto first, Index last) {
      Index const before = counts ? static_cast<Index>(counts[n]) : 0;
      each_run(first, last, width, [&](Index t, auto begin, Index end) {
        T const* const x = pass.x.row(n) + t * width;
        T* const y = pass.y.row(n) + t * width;
        bool const known = before + t < most;
        T const* const w = pass.p[0] + (known ? before + t : 0) * width;
        for (Index i = begin; i < end; ++i) y[i] = known ? x[i] + w[i] : std::numeric_limits<T>::quiet_NaN();
      });
    });
    count_steps(backend, pass);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const { pass_gradient_on(backend, pass); }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Index const used = pass.in.size(), all = most * pass.in.last();
    T* const gradient = backend.scratch;
    sum_columns(backend, used, pass.dy.rows, std::array{gradient},
                [&](Index n) { return [dy = pass.dy.row(n)](Index j) { return std::array<T, 1>{dy[j]}; }; });
    each_range(backend, all - used, Context::value_cost, [&](Index first, Index last, auto const&) {
      for (Index j = first; j < last; ++j) gradient[used + j] = T{};
    });
    backend.apply_gradient(gradient, all, pass.sinks[0]);
  }
  static constexpr Capabilities capabilities{.backward_reads_input = false,
                                             .backward_reads_output = false,
                                             .in_place = true,
                                             .any_steps = true,
                                             .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::always}; }
  bool operator==(LearnedPositions const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LearnedPositions, most, weight);
