// The layer RMSNormalization: divides each line of the last axis by its root mean square.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/stages.hpp>
#include <coldpress/core/sums.hpp>

namespace coldpress {

/// y = weight x / sqrt(mean(x²) + epsilon) over the last axis, with a weight of its extent, initially 1 (PyTorch's
/// RMSNorm; Zhang and Sennrich 2019).
struct RMSNormalization {
  static constexpr std::string_view name = "rms_normalization";
  float epsilon = 1e-6f;
  Weight weight = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "rms_normalization: the input has no values");
    require(epsilon > 0, "rms_normalization: epsilon must be above 0");
    return in;
  }
  constexpr auto parameters(Shape const& in) const {
    Index const n = in.last();
    return std::array{Parameter{"weight", "-0", {n}, Constant{1}, n, n}.with(weight)};
  }
  /// Two numbers for each line: the factor of x, and in the backward pass mean(weight dy h) for h = factor x.
  constexpr Index memory(Shape const& in) const { return 2 * (in.size() / in.last()); }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.training ? in.last() : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Index const n = pass.in.last(), lines = pass.in.size() / n;
    T* const memory = pass.memory;
    auto const squares = [&](Index l) { return [x = start(pass.x, l, lines, n)](Index i) { return x[i] * x[i]; }; };
    auto const keep = [&](Index l, T sum) {
      memory[2 * l] = 1 / freestanding::sqrt(sum / static_cast<T>(n) + static_cast<T>(epsilon));
    };
    auto const scale = [&](Index l) {
      return [x = start(pass.x, l, lines, n), y = start(pass.y, l, lines, n), w = pass.p[0],
              factor = memory[2 * l]](Index i) { y[i] = x[i] * factor * w[i]; };
    };
    in_stages(backend, pass.x, lines, LineSum{1, n, squares, keep}, LineLoop{1, n, scale});
  }
  /// dx = factor (weight dy - h mean(weight dy h))
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Index const n = pass.in.last(), lines = pass.in.size() / n;
    T* const memory = pass.memory;
    auto const products = [&](Index l) {
      return [x = start(pass.x, l, lines, n), dy = start(pass.dy, l, lines, n), w = pass.p[0],
              factor = memory[2 * l]](Index i) { return w[i] * dy[i] * (x[i] * factor); };
    };
    auto const keep = [&](Index l, T sum) { memory[2 * l + 1] = sum / static_cast<T>(n); };
    auto const gradient = [&](Index l) {
      return [x = start(pass.x, l, lines, n), dy = start(pass.dy, l, lines, n), dx = start(pass.dx, l, lines, n),
              w = pass.p[0], factor = memory[2 * l],
              along_h = memory[2 * l + 1]](Index i) { dx[i] = (w[i] * dy[i] - x[i] * factor * along_h) * factor; };
    };
    in_stages(backend, pass.dx, lines, LineSum{1, n, products, keep}, LineLoop{1, n, gradient});
  }
  /// dweight = Σ h dy over all lines.
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Index const n = pass.in.last(), lines = pass.in.size() / n;
    T* const dw = backend.scratch;
    sum_columns(backend, n, lines * pass.dy.rows, std::array{dw}, [&](Index l) {
      return [x = start(pass.x, l, lines, n), dy = start(pass.dy, l, lines, n), factor = pass.memory[2 * l]](Index i) {
        return std::array<T, 1>{x[i] * factor * dy[i]};
      };
    });
    backend.apply_gradient(dw, n, pass.sinks[0]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(in.rank() > 1)};
  }
  bool operator==(RMSNormalization const&) const = default;

 private:
  /// Line l of all samples, of which each has `lines` of n values.
  static constexpr auto* start(auto const& rows, Index l, Index lines, Index n) {
    return rows.row(l / lines) + l % lines * n;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::RMSNormalization, epsilon, weight);
