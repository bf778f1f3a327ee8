// The layer LayerNormalization: normalises each line of the last axis by its mean and variance.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/sums.hpp>

namespace coldpress {

/// y = w (x - mean) / sqrt(variance + epsilon) + b over the last axis, with w and b of its extent (Ba, Kiros and Hinton
/// 2016). The variance is biased. w is initially 1, b is 0.
struct LayerNormalization {
  static constexpr std::string_view name = "layer_normalization";
  float epsilon = 1e-5f;
  Weight weight = {}, bias = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "layer_normalization: the input has no values");
    require(epsilon > 0, "layer_normalization: epsilon must be above 0");
    return in;
  }
  constexpr auto parameters(Shape const& in) const {
    Index const n = in.last();
    return std::array{Parameter{"weight", "-0", {n}, Constant{1}, n, n}.with(weight),
                      Parameter{"bias", "-0-bias", {n}, Constant{0}, n, n}.with(bias)};
  }
  constexpr Index memory(Shape const& in) const {
    return 2 * (in.size() / in.last());
  }  // mean and 1 / standard deviation of each line

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.training ? 2 * in.last() : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    T const *const w = pass.p[0], *const b = pass.p[1];
    Index const n = pass.in.last();
    for_some_lines(backend, pass.in, pass.x, [&](Index sample, Index start, Index count, Index line) {
      T const* const x = pass.x.row(sample) + start;
      T *const y = pass.y.row(sample) + start, *const memory = pass.memory + 2 * line;
      for (Index l = 0; l < count; ++l)
        memory[2 * l] = sum_over<T>(n, [&](Index i) { return x[l * n + i]; }) / static_cast<T>(n);
      for (Index l = 0; l < count; ++l) {
        T const mean = memory[2 * l];
        T const squares = sum_over<T>(n, [&](Index i) { return (x[l * n + i] - mean) * (x[l * n + i] - mean); });
        memory[2 * l + 1] = 1 / Math<T>::sqrt(squares / static_cast<T>(n) + static_cast<T>(epsilon));
      }
      for (Index l = 0; l < count; ++l) {
        T const mean = memory[2 * l], scale = memory[2 * l + 1];
        for (Index i = 0; i < n; ++i) y[l * n + i] = (x[l * n + i] - mean) * scale * w[i] + b[i];
      }
    });
  }
  /// With h the normalised x and g = w dy: dx = (g - mean(g) - h mean(g h)) / deviation.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    T const* const w = pass.p[0];
    Index const n = pass.in.last();
    for_some_lines(backend, pass.in, pass.dx, [&](Index sample, Index start, Index count, Index line) {
      T const *const x = pass.x.row(sample) + start, *const dy = pass.dy.row(sample) + start;
      T* const dx = pass.dx.row(sample) + start;
      T const* const memory = pass.memory + 2 * line;
      T along_1[lines_at_once], along_h[lines_at_once];
      for (Index l = 0; l < count; ++l) {
        T const mean = memory[2 * l], scale = memory[2 * l + 1];
        auto const g = [&](Index i) { return w[i] * dy[l * n + i]; };
        along_1[l] = sum_over<T>(n, g) / static_cast<T>(n);
        along_h[l] =
            sum_over<T>(n, [&](Index i) { return g(i) * ((x[l * n + i] - mean) * scale); }) / static_cast<T>(n);
      }
      for (Index l = 0; l < count; ++l) {
        T const mean = memory[2 * l], scale = memory[2 * l + 1];
        for (Index i = 0; i < n; ++i) {
          Index const at = l * n + i;
          dx[at] = (w[i] * dy[at] - along_1[l] - (x[at] - mean) * scale * along_h[l]) * scale;
        }
      }
    });
  }
  /// dw = Σ h dy and db = Σ dy over all lines.
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Index const size = pass.in.last();
    T *const dw = backend.scratch, *const db = dw + size;
    Index const lines = pass.in.size() / size;
    sum_columns(backend, size, lines * pass.dy.rows, std::array{dw, db}, [&](Index line) {
      Index const start = line % lines * size;
      return [x = pass.x.row(line / lines) + start, dy = pass.dy.row(line / lines) + start,
              mean = pass.memory[2 * line], scale = pass.memory[2 * line + 1]](Index i) {
        return std::array<T, 2>{(x[i] - mean) * scale * dy[i], dy[i]};
      };
    });
    backend.apply_gradient(dw, size, pass.sinks[0]);
    backend.apply_gradient(db, size, pass.sinks[1]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(in.rank() > 1)};
  }
  bool operator==(LayerNormalization const&) const = default;

 private:
  static constexpr Index lines_at_once = 8;
  /// f(sample, start of the first line in it, number of lines, number of the first line among all lines), for a few
  /// lines at a time, so that one line's sums do not wait for those of the line before.
  template <class F>
  static constexpr void for_some_lines(auto const& backend, Shape const& in, auto const& samples, F f) {
    Index const n = in.last(), lines = in.size() / n;
    each_part(backend, samples, lines, [&](Index sample, Index first, Index last) {
      for (Index line = first; line < last; line += lines_at_once)
        f(sample, line * n, freestanding::min(lines_at_once, last - line), sample * lines + line);
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LayerNormalization, epsilon, weight, bias);
