// The layer SinusoidalPositions: adds to each step of a sequence sines and cosines of its position.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/positions.hpp>

namespace coldpress {

/// y[t][2i] = x[t][2i] + sin(t / base^(2i / features)), and y[t][2i + 1] = x[t][2i + 1] + cos(t / base^(2i / features))
/// for samples {steps, features} (Vaswani et al. 2017). A sample {features} is one step. A stream goes on counting from
/// call to call, up to 2^24 steps.
struct SinusoidalPositions {
  static constexpr std::string_view name = "sinusoidal_positions";
  float base = 10000;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() == 1 || in.rank() == 2, "sinusoidal_positions: a sample must be {steps, features} or {features}");
    require(base > 1 && is_finite(base), "sinusoidal_positions: base must be a finite number above 1");
    return in;
  }
  /// The number of steps so far.
  constexpr Index state(Shape const&) const { return 1; }
  constexpr Index remembers(Shape const&) const { return 0; }

  /// What is added to every sample.
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent) const {
    return in.size();
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    Index const size = pass.in.size(), width = pass.in.last();
    T *const waves = backend.scratch, *const counts = pass.state;
    // All samples of a stream have had equally many steps.
    double const before = counts ? static_cast<double>(counts[0]) : 0;
    each_range(backend, size, wave_cost, [&](Index first, Index last, auto const&) {
      for (Index j = first; j < last; ++j)
        waves[j] = static_cast<T>(wave(before + static_cast<double>(j / width), j % width, width));
    });
    each_part(backend, pass.y, size, [&](Index n, auto first, Index last) {
      T const* const x = pass.x.row(n);
      T* const y = pass.y.row(n);
      for (Index j = first; j < last; ++j) y[j] = x[j] + waves[j];
    });
    count_steps(backend, pass);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const { pass_gradient_on(backend, pass); }
  static constexpr Capabilities capabilities{.backward_reads_input = false,
                                             .backward_reads_output = false,
                                             .in_place = true,
                                             .any_steps = true,
                                             .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::always}; }
  bool operator==(SinusoidalPositions const&) const = default;

 private:
  COLDPRESS_DEVICE double wave(double step, Index feature, Index features) const {
    double const angle = position_angle(static_cast<double>(base), step, feature / 2, features);
    return feature % 2 == 0 ? freestanding::sin(angle) : freestanding::cos(angle);
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SinusoidalPositions, base);
