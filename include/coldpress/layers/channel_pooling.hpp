// The layer ChannelPooling: maxima or means under a window along one axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The largest or the mean value under a window that slides along one axis, as in Mocha. The number of windows is
/// rounded up. A mean is taken over the whole window, as if the input were surrounded by zeros. The first of equal
/// maxima counts, and a NaN is larger than anything.
struct ChannelPooling {
  static constexpr std::string_view name = "channel_pooling";
  PoolingMode mode = PoolingMode::max;
  Index filter_size = 1, stride = 1;
  PerAxis padding = 0;  // before and after the values: one number for both, or one for each
  int axis = 0;

  template <class Needs = Require>
  constexpr Axis window(Shape const& in, Needs require = {}) const {
    require(mode == PoolingMode::max || mode == PoolingMode::average, "channel_pooling: mode is not one of its type");
    require(padding.count <= 2, "channel_pooling: padding is before and after, there is no third");
    require(filter_size <= Index{1} << 24, "channel_pooling: filter_size must be at most 2^24");
    Axis const made = make_axis(in[axis_of(in, axis, require)], filter_size, stride, padding[0], padding[1], 1,
                                Rounding::ceil, require);
    require(padding[0] < filter_size && padding[1] < filter_size,
            "channel_pooling: padding must be less than filter_size, so that each window has a value");
    return made;
  }
  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    return with_extent(in, axis, window(in, require).out);
  }
  constexpr Index memory(Shape const& in) const {  // the tap of its window that each output came from
    return mode == PoolingMode::max ? output_shape(in).size() : 0;
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Index const size = pass.y.columns;
    each_sample(backend, pass.x, Context::value_cost * filter_size * size, [&](Index n) {
      T const* const x = pass.x.row(n);
      T* const y = pass.y.row(n);
      T* const places = pass.memory + n * size;
      freestanding::fill_n(y, size, T{});
      if (mode == PoolingMode::max) freestanding::fill_n(places, size, T{-1});
      for_each_tap(pass.in, [&](Index from, Index to, Index count, Index tap) {
        for (Index i = 0; i < count; ++i) {
          T const value = x[from + i], most = y[to + i];
          if (mode == PoolingMode::average) {
            y[to + i] += value;
          } else if (places[to + i] < 0 || value > most || (value != value && most == most)) {
            y[to + i] = value, places[to + i] = static_cast<T>(tap);
          }
        }
      });
      if (mode == PoolingMode::average) {
        for (Index i = 0; i < size; ++i) y[i] /= static_cast<T>(filter_size);
      }
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    each_sample(backend, pass.dx, Context::value_cost * filter_size * pass.dy.columns, [&](Index n) {
      T const *const dy = pass.dy.row(n), *const places = pass.memory + n * pass.dy.columns;
      T* const dx = pass.dx.row(n);
      freestanding::fill_n(dx, Index{pass.dx.columns}, T{});
      for_each_tap(pass.in, [&](Index to, Index from, Index count, Index tap) {
        for (Index i = 0; i < count; ++i) {
          if (mode == PoolingMode::average) {
            dx[to + i] += dy[from + i] / static_cast<T>(filter_size);
          } else if (places[from + i] == static_cast<T>(tap)) {
            dx[to + i] += dy[from + i];
          }
        }
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  bool operator==(ChannelPooling const&) const = default;

 private:
  /// f(place in x, place in y, count, tap) for all contiguous ranges of values under windows, window by window.
  template <class F>
  constexpr void for_each_tap(Shape const& in, F f) const {
    Along const a{in, axis};
    Axis const w = window(in);
    for (Index o = 0; o < a.outer; ++o) {
      for (Index k = 0; k < w.out; ++k) {
        for (Index tap = 0; tap < w.filter; ++tap) {
          Index const at = w.at(k, tap);
          if (at >= 0 && at < w.in) f((o * w.in + at) * a.inner, (o * w.out + k) * a.inner, a.inner, tap);
        }
      }
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ChannelPooling, mode, filter_size, stride, padding, axis);
