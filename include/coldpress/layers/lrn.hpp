// The layer LRN: local response normalisation.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/layers/power.hpp>

#include <array>

namespace coldpress {

/// Which neighbours of a value the normalisation counts: those in other channels, or those in the same channel.
enum class LRNMode { across, within };
constexpr auto spellings(LRNMode) { return std::array<std::string_view, 2>{"across", "within"}; }

/// Local response normalisation (Krizhevsky, Sutskever and Hinton 2012): y = x / s^power with s = shift + scale / n Σ
/// x² over the n values of a window around x; the input is surrounded by zeros. Across channels, the first axis of
/// samples {C, ...}, a window has n = size values; if size is even, there is one more after x than before it. Within a
/// channel of {C, height, width}, a window is a square of size x size values.
struct LRN {
  static constexpr std::string_view name = "lrn";
  Index size = 5;
  float scale = 1, shift = 1, power = 0.75f;
  LRNMode mode = LRNMode::across;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "lrn: the input has no values");
    require(size >= 1 && size <= Index{1} << 20, "lrn: size must be from 1 to 2^20");
    require(mode == LRNMode::across || mode == LRNMode::within, "lrn: mode is not one of its type");
    require(mode == LRNMode::across || (in.rank() == 3 && size % 2 == 1),
            "lrn: within channels size must be odd, and the input {channels, height, width}");
    require(shift > 0 && scale >= 0, "lrn: shift must be above 0, and scale not below it");
    return in;
  }
  constexpr Index memory(Shape const& in) const { return in.size(); }  // the mean square around each value

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.workers * in.size() * ((mode == LRNMode::within ? 1 : 0) + (extent.input_gradient ? 2 : 0));
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Index const values = pass.in.size(), before = (size - 1) / 2, after = size / 2;
    each_part(
        backend, pass.x, values, values * size,
        [&](Index n, auto first, Index last, auto const& by) {
          T const* const x = pass.x.row(n);
          sum_down(pass.in, before, after, first, last, by.scratch, [&](Index i) { return x[i] * x[i]; });
        },
        [&](Index n, auto first, Index last, auto const& by) {
          T const* const x = pass.x.row(n);
          T *const y = pass.y.row(n), *const means = pass.memory + n * values;
          window_means(pass.in, before, after, first, last, by.scratch, means, [&](Index i) { return x[i] * x[i]; });
          raise(by, means + first, y + first, last - first);
          for (Index i = first; i < last; ++i) y[i] *= x[i];
        });
  }
  /// dx = dy / s^power - 2 power scale / n x Σ dy x / s^(power + 1), summed over the windows that contain x.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Index const values = pass.in.size(), before = size / 2, after = (size - 1) / 2;
    T const factor = 2 * static_cast<T>(power) * static_cast<T>(scale);
    each_part(
        backend, pass.dx, values, values * size,
        [&](Index n, auto first, Index last, auto const& by) {
          T const *const x = pass.x.row(n), *const dy = pass.dy.row(n), *const means = pass.memory + n * values;
          T *const part = by.scratch, *const dx = pass.dx.row(n);
          raise(by, means + first, dx + first, last - first);
          for (Index i = first; i < last; ++i) {
            dx[i] *= dy[i];
            part[i] = dx[i] * x[i] / (static_cast<T>(shift) + static_cast<T>(scale) * means[i]);
          }
        },
        [&](Index, auto first, Index last, auto const& by) {
          T *const part = by.scratch, *const between = part + 2 * values;
          sum_down(pass.in, before, after, first, last, between, [&](Index i) { return part[i]; });
        },
        [&](Index n, auto first, Index last, auto const& by) {
          T *const part = by.scratch, *const total = part + values, *const between = total + values;
          window_means(pass.in, before, after, first, last, between, total, [&](Index i) { return part[i]; });
          for (Index i = first; i < last; ++i) pass.dx.row(n)[i] -= factor * pass.x.row(n)[i] * total[i];
        });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  bool operator==(LRN const&) const = default;

 private:
  /// to = s^-power for some mean squares.
  template <class T>
  constexpr void raise(auto const& backend, T const* means, T* to, Index values) const {
    backend.map(Rows<T const>{means, 1, values, values}, Rows<T>{to, 1, values, values},
                PostOps<Chain<PowerOp>, T>{chain_of(PowerOp{-power, scale, shift})});
  }
  /// For windows within a channel: writes the sums of f(place) over the rows of the windows to `between`.
  template <class T, class F>
  constexpr void sum_down(Shape const& in, Index before, Index after, auto first, Index last, T* between, F f) const {
    if (mode == LRNMode::within) sum_along({in, 1}, before, after, first, last, between, f);
  }
  /// Writes the mean of f(place) over the window around each place to `to`: across channels, or from the sums in
  /// `between`.
  template <class T, class F>
  constexpr void window_means(Shape const& in, Index before, Index after, auto first, Index last, T const* between,
                              T* to, F f) const {
    if (mode == LRNMode::across) {
      sum_along({in, 0}, before, after, first, last, to, f);
    } else {
      sum_along({in, 2}, before, after, first, last, to, [&](Index i) { return between[i]; });
    }
    T const count = static_cast<T>(mode == LRNMode::across ? size : size * size);
    for (Index i = first; i < last; ++i) to[i] /= count;
  }
  template <class T, class F>
  static constexpr void sum_along(Along const& a, Index before, Index after, auto first, Index last, T* to, F f) {
    each_run(first, last, a.extent * a.inner, [&](Index o, auto begin, Index end) {
      Index const start = o * a.extent * a.inner;
      freestanding::fill_n(to + start + begin, end - begin, T{});
      for (Index d = -before; d <= after; ++d) {
        Index const stop = start + freestanding::min(end, (a.extent - d) * a.inner);
        for (Index i = start + freestanding::max<Index>(begin, -d * a.inner); i < stop; ++i)
          to[i] += f(i + d * a.inner);
      }
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LRN, size, scale, shift, power, mode);
