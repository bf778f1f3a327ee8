// The layer RotaryPositions: turns pairs of features by an angle that grows with the step.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/positions.hpp>

namespace coldpress {

/// Turns pairs of features of samples {steps, features} by the angle t / base^(2i / rotated) at step t (Su et al.
/// 2021), so that products of queries and keys depend on their distance alone: for each pair (a, b), y[a] = x[a] cos -
/// x[b] sin, and y[b] = x[b] cos + x[a] sin. A step consists of heads of `size` features. Of the first `heads` of them,
/// the first `rotated` features are turned; everything else is passed on, for instance values that lie behind queries
/// and keys. Pair i is features i and i + rotated / 2 of a head, as in Llama, or 2i and 2i + 1 if `interleaved`. A
/// sample {features} is one step. A stream goes on counting from call to call, up to 2^24 steps.
struct RotaryPositions {
  static constexpr std::string_view name = "rotary_positions";
  Index size = 0;     // features of a head; 0: all
  Index heads = 0;    // heads that are turned; 0: all
  Index rotated = 0;  // features of a head that are turned; 0: all
  float base = 10000;
  bool interleaved = false;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() == 1 || in.rank() == 2, "rotary_positions: a sample must be {steps, features} or {features}");
    require(base > 1 && is_finite(base), "rotary_positions: base must be a finite number above 1");
    if (require.failed()) return in;
    Index const all = in.last();
    require(size >= 0 && all % head_size(in) == 0, "rotary_positions: size must divide the features of a step");
    require(heads >= 0 && heads <= all / head_size(in), "rotary_positions: a step does not have that many heads");
    require(rotated >= 0 && turned(in) <= head_size(in) && turned(in) % 2 == 0,
            "rotary_positions: the rotated features must be an even number, at most the size of a head");
    return in;
  }
  /// The number of steps so far.
  constexpr Index state(Shape const&) const { return 1; }
  constexpr Index remembers(Shape const&) const { return 0; }

  /// The cosines of all steps and pairs, and then the sines.
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent) const {
    return 2 * waves(in);
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    T* const counts = pass.state;  // all samples of a stream have had equally many steps
    turn(backend, pass.in, pass.x, pass.y, counts ? static_cast<double>(counts[0]) : 0, 1);
    count_steps(backend, pass);
  }
  /// The gradient is turned back.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    turn(backend, pass.in, pass.dy, pass.dx, 0, -1);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .any_steps = true, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::always}; }
  bool operator==(RotaryPositions const&) const = default;

 private:
  constexpr Index head_size(Shape const& in) const { return size > 0 ? size : in.last(); }
  constexpr Index turned(Shape const& in) const { return rotated > 0 ? rotated : head_size(in); }
  constexpr Index waves(Shape const& in) const { return steps_of(in) * turned(in) / 2; }

  constexpr void turn(auto const& backend, Shape const& in, auto const& from, auto const& to, double before,
                      int direction) const {
    using T = typename std::remove_cvref_t<decltype(to)>::Scalar;
    Index const all = in.last(), width = head_size(in), pairs = turned(in) / 2, count = waves(in),
                last = (heads > 0 ? heads : all / width);
    T *const cosines = backend.scratch, *const sines = cosines + count;
    each_range(backend, count, 2 * wave_cost, [&](Index first, Index end, auto const&) {
      for (Index j = first; j < end; ++j) {
        double const angle =
            position_angle(static_cast<double>(base), before + static_cast<double>(j / pairs), j % pairs, 2 * pairs);
        cosines[j] = static_cast<T>(freestanding::cos(angle));
        sines[j] = static_cast<T>(freestanding::sin(angle) * direction);
      }
    });
    each_part(backend, to, in.size(), [&](Index n, auto first, Index end) {
      each_run(first, end, width, [&](Index head, auto begin, Index stop) {
        T const *const x = from.row(n) + head * width, *const c = cosines + head * width / all * pairs,
                       *const s = c + count;
        T* const y = to.row(n) + head * width;
        Index const passed = head % (all / width) < last ? 2 * pairs : 0;  // from here on, features are passed on
        if (interleaved) {
          for (Index i = begin; i < freestanding::min(stop, passed); ++i)
            y[i] = x[i] * c[i / 2] + (i % 2 == 0 ? -x[i + 1] : x[i - 1]) * s[i / 2];
        } else {
          for (Index i = begin; i < freestanding::min(stop, passed / 2); ++i) y[i] = x[i] * c[i] - x[i + pairs] * s[i];
          for (Index i = freestanding::max<Index>(begin, passed / 2); i < freestanding::min(stop, passed); ++i)
            y[i] = x[i] * c[i - pairs] + x[i - pairs] * s[i - pairs];
        }
        for (Index i = freestanding::max<Index>(begin, passed); i < stop; ++i) y[i] = x[i];
      });
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::RotaryPositions, size, heads, rotated, base, interleaved);
