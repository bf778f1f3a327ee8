// Pooling of one sample, plane by plane. Each row is cut into phases (layout.hpp), so that the lanes are neighbouring
// outputs whatever the stride.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/math.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// A row of the input into its phases; what lies around it there stays as it is.
COLDPRESS_INLINE void split_row(Axis const& axis, Index phase, float const* from, float* to) {
  if (axis.stride == 1) {
    for (Index i = 0; i < axis.in; i += lanes)
      store_row(to + axis.padding + i, load_row(from + i, axis.in - i), axis.in - i);
  } else if (axis.stride == 2 && axis.filter > 1) {
    float* const even = to + axis.padding % 2 * phase + axis.padding / 2;
    float* const odd = to + (axis.padding + 1) % 2 * phase + (axis.padding + 1) / 2;
    for (Index i = 0; 2 * i < axis.in; i += lanes) {
      Index const left = axis.in - 2 * i, more = left > lanes ? left - lanes : 0;
      Vector const a = load_row(from + 2 * i, left), b = load_row(from + 2 * i + (more ? lanes : 0), more);
      [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
        store_row(even + i, __builtin_shufflevector(a, b, (2 * l)...), (left + 1) / 2);
        if (left > 1) store_row(odd + i, __builtin_shufflevector(a, b, (2 * l + 1)...), left / 2);
      }
      (std::make_integer_sequence<int, lanes>{});
    }
  } else {
    for (Index q = 0; q < axis.stride && q < axis.filter; ++q, to += phase) {
      for (Index j = (axis.padding - q + axis.stride - 1) / axis.stride, x; (x = axis.at(j, q)) < axis.in; ++j)
        if (x >= 0) to[j] = from[x];
    }
  }
}
/// And back: to += the phases.
COLDPRESS_INLINE void join_row(Axis const& axis, Index phase, float const* from, float* to) {
  if (axis.stride == 1) {
    for (Index i = 0; i < axis.in; i += lanes)
      store_row(to + i, load_row(from + axis.padding + i, axis.in - i), axis.in - i);
  } else if (axis.stride == 2 && axis.filter > 1) {
    float const* const even = from + axis.padding % 2 * phase + axis.padding / 2;
    float const* const odd = from + (axis.padding + 1) % 2 * phase + (axis.padding + 1) / 2;
    for (Index i = 0; 2 * i < axis.in; i += lanes) {
      Index const left = axis.in - 2 * i;
      Vector const a = load(even + i), b = load(odd + i);
      [&]<int... l>(std::integer_sequence<int, l...>) COLDPRESS_INLINE_LAMBDA {
        store_row(to + 2 * i, __builtin_shufflevector(a, b, (l / 2 + l % 2 * lanes)...), left);
        if (left > lanes)
          store_row(to + 2 * i + lanes, __builtin_shufflevector(a, b, (l / 2 + l % 2 * lanes + lanes / 2)...),
                    left - lanes);
      }
      (std::make_integer_sequence<int, lanes>{});
    }
  } else {
    for (Index q = 0; q < axis.stride && q < axis.filter; ++q, from += phase) {
      for (Index j = (axis.padding - q + axis.stride - 1) / axis.stride, x; (x = axis.at(j, q)) < axis.in; ++j)
        if (x >= 0) to[x] = from[j];
    }
  }
}

/// Some neighbouring windows of one row of outputs, one in each lane.
struct Windows {
  PoolingGeometry const& g;
  Phases const& phases;
  float* plane;                  // in phases
  Index depth, height, column;   // of the first output

  COLDPRESS_INLINE Mask inputs() const {  // where the windows begin
    return (lane_numbers() + static_cast<std::int32_t>(column)) * static_cast<std::int32_t>(g.width.stride) -
           static_cast<std::int32_t>(g.width.padding);
  }
  /// Values under each window, or all of them where padding counts.
  COLDPRESS_INLINE Vector count() const {
    if (g.count_padding) return splat(static_cast<float>(g.taps()));
    auto const inside = [](Axis const& axis, Index output) COLDPRESS_INLINE_LAMBDA {
      Index const begin = axis.at(output, 0), end = axis.at(output, axis.filter);
      return (end < axis.in ? end : axis.in) - (begin > 0 ? begin : 0);
    };
    Mask const begin = inputs(), end = begin + static_cast<std::int32_t>(g.width.filter),
               in = Mask{} + static_cast<std::int32_t>(g.width.in);
    Mask const width = (end < in ? end : in) - (begin > 0 ? begin : 0);
    Vector const all =
        __builtin_convertvector(width, Vector) * static_cast<float>(inside(g.depth, depth) * inside(g.height, height));
    return all > 1 ? all : splat(1);  // also in lanes beyond the row
  }
  /// The first tap on the input: the place of the maximum where all values are -inf.
  COLDPRESS_INLINE Mask first_tap() const {
    Index const z = g.depth.at(depth, 0), y = g.height.at(height, 0);
    Index const row = (z < 0 ? -z : 0) * g.height.filter + (y < 0 ? -y : 0);
    Mask const begin = inputs();
    return static_cast<std::int32_t>(row * g.width.filter) + (begin < 0 ? -begin : Mask{});
  }
  /// f(number of the tap, where the windows have it) for those in rows of the input, in order.
  template <class F>
  COLDPRESS_INLINE void for_each_tap(F f) const {
    for (Index d = 0; d < g.depth.filter; ++d) {
      Index const z = g.depth.at(depth, d);
      if (z < 0 || z >= g.depth.in) continue;
      for (Index r = 0; r < g.height.filter; ++r) {
        Index const y = g.height.at(height, r);
        if (y < 0 || y >= g.height.in) continue;
        float* const row = plane + z * phases.plane + y * phases.row + column;
        auto tap = static_cast<std::int32_t>((d * g.height.filter + r) * g.width.filter);
        for (Index s = 0, q = 0, j = 0; s < g.width.filter; ++s, ++tap) {
          f(tap, row + q * phases.phase + j);
          if (++q == g.width.stride) q = 0, ++j;
        }
      }
    }
  }
};

template <class F>
COLDPRESS_INLINE void for_each_windows(PoolingGeometry const& g, Phases const& phases, float* plane, F f) {
  Index output = 0;
  for (Index d = 0; d < g.depth.out; ++d) {
    for (Index h = 0; h < g.height.out; ++h, output += g.width.out) {
      for (Index c = 0; c < g.width.out; c += lanes)
        f(Windows{g, phases, plane, d, h, c}, output + c, g.width.out - c);
    }
  }
}

__attribute__((noinline)) inline void pool(PoolingGeometry const& g, float const* x, float* y, float* places,
                                           float* scratch) {
  Phases const phases{g};
  Index const rows = g.depth.in * g.height.in;
  Vector const nothing = splat(g.mode == PoolingMode::max ? -__builtin_inff() : 0.f);
  for (Index i = 0; i < rows * phases.row; i += lanes) store(scratch + i, nothing);
  for (Index plane = 0; plane < g.planes; ++plane, x += g.in(), y += g.out()) {
    for (Index row = 0; row < rows; ++row)
      split_row(g.width, phases.phase, x + row * g.width.in, scratch + row * phases.row);
    for_each_windows(g, phases, scratch, [&](Windows const& windows, Index output, Index left)
                                             COLDPRESS_INLINE_LAMBDA {
      if (g.mode == PoolingMode::average) {
        Vector sum{};
        windows.for_each_tap([&](std::int32_t, float const* at) COLDPRESS_INLINE_LAMBDA { sum += load(at); });
        store_row(y + output, sum / windows.count(), left);
      } else {
        Vector best = nothing;
        Mask place = windows.first_tap();
        windows.for_each_tap([&](std::int32_t tap, float const* at) COLDPRESS_INLINE_LAMBDA {
          Vector const v = load(at);
          Mask const takes = (v > best) | ((v != v) & (best == best));
          best = takes ? v : best;
          place = takes ? Mask{} + tap : place;
        });
        store_row(y + output, best, left);
        store_row(places + plane * g.out() + output, (Vector)place, left);
      }
    });
  }
}

/// dx, which is zero, becomes the input gradient.
__attribute__((noinline)) inline void pool_gradient(PoolingGeometry const& g, float const* dy, float const* places,
                                                    float* dx, float* scratch) {
  Phases const phases{g};
  Index const rows = g.depth.in * g.height.in;
  for (Index plane = 0; plane < g.planes; ++plane, dx += g.in(), dy += g.out()) {
    for (Index i = 0; i < rows * phases.row; i += lanes) store(scratch + i, Vector{});
    for_each_windows(g, phases, scratch, [&](Windows const& windows, Index output, Index left)
                                             COLDPRESS_INLINE_LAMBDA {
      Vector const gradient = load_row(dy + output, left);
      if (g.mode == PoolingMode::average) {
        Vector const each = gradient / windows.count();
        windows.for_each_tap([&](std::int32_t, float* at) COLDPRESS_INLINE_LAMBDA { store(at, load(at) + each); });
      } else {
        Mask const place = (Mask)load_row(places + plane * g.out() + output, left);
        windows.for_each_tap([&](std::int32_t tap, float* at) COLDPRESS_INLINE_LAMBDA {
          store(at, load(at) + (place == tap ? gradient : Vector{}));
        });
      }
    });
    for (Index row = 0; row < rows; ++row)
      join_row(g.width, phases.phase, scratch + row * phases.row, dx + row * g.width.in);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
