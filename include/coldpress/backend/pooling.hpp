// Pooling of one sample on the CPU.
#pragma once

// Planes are transposed so that the lanes are planes; then any window is a few vectors. The most frequent window, 2 x 2
// maxima, needs no transposition.

#include <coldpress/backend/blocked_rows.hpp>
#include <coldpress/backend/image_blocks.hpp>
#include <coldpress/core/pass.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The taps [first, last) of a window that are on the input, along one axis.
struct Span {
  Index first, last;

  COLDPRESS_INLINE Span(Axis const& axis, Index output) {
    Index const begin = axis.at(output, 0), left = axis.in - begin;
    first = begin < 0 ? -begin : 0;
    last = left < axis.filter ? left : axis.filter;
  }
  COLDPRESS_INLINE Index size() const { return last - first; }
};

/// f(output, size, first, taps) for all windows of a plane: `size` is the divisor of a mean, `first` the number of the
/// first tap on the input, and taps(f) calls f(tap, input) for each tap in order. Windows of rows x columns taps are
/// unrolled.
template <int rows, int columns, class F>
COLDPRESS_INLINE void for_each_window(PoolingGeometry const& g, F f) {
  Index const stride = g.width.stride, left = freestanding::min(g.width.out, (g.width.padding + stride - 1) / stride),
              room = g.width.in + g.width.padding - g.width.filter,
              right = freestanding::min(g.width.out,
                                        room < 0 ? 0 : room / stride + 1);  // [left, right) of a row are whole
  bool const fits = g.depth.filter == 1 && g.height.filter == rows && g.width.filter == columns;
  Index output = 0;
  for (Index i = 0; i < g.depth.out; ++i) {
    Span const d{g.depth, i};
    for (Index j = 0; j < g.height.out; ++j, output += g.width.out) {
      Span const h{g.height, j};
      auto const some = [&](Index k) {
        Span const w{g.width, k};
        auto const number = [&](Index z, Index y, Index x) COLDPRESS_INLINE_LAMBDA {
          return static_cast<std::int32_t>((z * g.height.filter + y) * g.width.filter + x);
        };
        auto const taps = [&](auto each) COLDPRESS_INLINE_LAMBDA {
          for (Index z = d.first; z < d.last; ++z) {
            for (Index y = h.first; y < h.last; ++y) {
              Index const row = (g.depth.at(i, z) * g.height.in + g.height.at(j, y)) * g.width.in;
              for (Index x = w.first; x < w.last; ++x) each(number(z, y, x), row + g.width.at(k, x));
            }
          }
        };
        Index const size = g.count_padding ? g.taps() : d.size() * h.size() * w.size();
        f(output + k, static_cast<float>(size), number(d.first, h.first, w.first), taps);
      };
      Index k = 0;
      if (fits && d.size() == 1 && h.size() == rows) {
        for (; k < left; ++k) some(k);
        Index corner = (g.depth.at(i, 0) * g.height.in + g.height.at(j, 0)) * g.width.in + g.width.at(k, 0);
        for (; k < right; ++k, corner += stride) {
          auto const taps = [&](auto each) COLDPRESS_INLINE_LAMBDA {
            COLDPRESS_UNROLL
            for (int n = 0; n < rows * columns; ++n)
              each(std::int32_t{n}, corner + n / columns * g.width.in + n % columns);
          };
          f(output + k, static_cast<float>(rows * columns), 0, taps);
        }
      }
      for (; k < g.width.out; ++k) some(k);
    }
  }
}

/// Some planes of a sample, as many as there are lanes; each vector holds the values of one place in all of them.
struct Planes {
  float *inputs, *outputs, *taken;
  COLDPRESS_INLINE Planes(PoolingGeometry const& g, float* scratch)
      : inputs(scratch), outputs(inputs + lanes * g.in()), taken(outputs + lanes * g.out()) {}

  /// f(first plane, number of planes)
  template <class F>
  static COLDPRESS_INLINE void for_each(PoolingGeometry const& g, F f) {
    for (Index first = 0; first < g.planes; first += lanes)
      f(first, g.planes - first < lanes ? g.planes - first : lanes);
  }
};

/// Maxima of 2 x 2 values whose windows are adjacent and cover the input. Two rows of any plane give one row of
/// outputs, and the lanes are neighbours in it.
struct Quarters {
  Index rows, width;  // of the outputs, with all planes below each other

  static COLDPRESS_INLINE bool fit(PoolingGeometry const& g) {
    auto const halved = [](Axis const& a) {
      return a.filter == 2 && a.stride == 2 && a.padding == 0 && a.in == 2 * a.out;
    };
    return g.mode == PoolingMode::max && g.depth.in == 1 && g.depth.filter == 1 && g.depth.padding == 0 &&
           halved(g.height) && halved(g.width);
  }
  COLDPRESS_INLINE explicit Quarters(PoolingGeometry const& g) : rows(g.planes * g.height.out), width(g.width.out) {}

  __attribute__((noinline)) void pool(float const* x, float* y, float* places) const {
    Index i = 0;
    Index const together = lanes / width;  // rows per vector, where rows are narrow
    if (together * width == lanes && (together == 2 || together == 4)) {
      Index const distance = (together == 2 ? 1 : 4) * width, next = 2 * lanes, below = 2 * width;
      for (; i + together <= rows; i += together, x += 4 * lanes, y += lanes, places += lanes) {
        Largest const best = largest(load_halves(x, distance), load_halves(x + next, distance),
                                     load_halves(x + below, distance), load_halves(x + next + below, distance));
        store(y, best.value), store(places, (Vector)best.number);
      }
    }
    for (; i < rows; ++i, x += 4 * width, y += width, places += width) {
      for (Index k = 0; k < width; k += lanes) {
        Index const left = 2 * (width - k);
        float const* const at = x + 2 * k;
        bool const two = left > lanes;
        Vector const a = load_row(at, left), b = two ? load_row(at + lanes, left - lanes) : Vector{};
        Vector const c = load_row(at + 2 * width, left),
                     d = two ? load_row(at + 2 * width + lanes, left - lanes) : Vector{};
        Largest const best = largest(a, b, c, d);
        store_row(y + k, best.value, width - k);
        store_row(places + k, (Vector)best.number, width - k);
      }
    }
  }
  __attribute__((noinline)) void gradient(float const* dy, float const* places, float* dx) const {
    for (Index i = 0; i < rows; ++i, dx += 4 * width, dy += width, places += width) {
      for (Index k = 0; k < width; k += lanes) {
        Index const left = 2 * (width - k);
        Vector const v = load_row(dy + k, width - k);
        Mask const place = (Mask)load_row(places + k, width - k);
        for_constants<2>([&](auto row) COLDPRESS_INLINE_LAMBDA {
          Vector const a = place == 2 * row ? v : Vector{}, b = place == 2 * row + 1 ? v : Vector{};
          float* const to = dx + 2 * row * width + 2 * k;
          store_row(to, interleave<0>(a, b), left);
          if (left > lanes) store_row(to + lanes, interleave<1>(a, b), left - lanes);
        });
      }
    }
  }

 private:
  /// The maxima of neighbours in a, then b, and in c, then d, below them.
  static COLDPRESS_INLINE Largest largest(Vector a, Vector b, Vector c, Vector d) {
    Largest best{every_second<0>(a, b), {}};
    best.take({every_second<1>(a, b), Mask{} + 1});
    best.take({every_second<0>(c, d), Mask{} + 2});
    best.take({every_second<1>(c, d), Mask{} + 3});
    return best;
  }
};

/// The windows of one plane, or of several planes in the lanes; neighbouring values are `step` floats apart.
template <int rows, int columns, int step>
__attribute__((noinline)) void pool_lanes(PoolingGeometry const& g, float const* x, float* y, float* places) {
  if (g.mode == PoolingMode::average) {
    for_each_window<rows, columns>(g, [&](Index output, float size, std::int32_t, auto taps) COLDPRESS_INLINE_LAMBDA {
      Vector sum{};
      taps([&](std::int32_t, Index i) COLDPRESS_INLINE_LAMBDA { sum += load(x + i * step); });
      store(y + output * step, sum / size);
    });
  } else {
    for_each_window<rows, columns>(g, [&](Index output, float, std::int32_t begin, auto taps) COLDPRESS_INLINE_LAMBDA {
      Largest best{};
      taps([&](std::int32_t tap, Index i) COLDPRESS_INLINE_LAMBDA {
        Largest const next{load(x + i * step), Mask{} + tap};
        if (tap == begin) {
          best = next;
        } else {
          best.take(next);
        }
      });
      store(y + output * step, best.value);
      store(places + output * step, (Vector)best.number);
    });
  }
}
/// For means: what each window passes back to each of its values. For maxima: dy itself.
template <int step>
COLDPRESS_INLINE float const* shares(PoolingGeometry const& g, float const* dy, float* to) {
  if (g.mode == PoolingMode::max) return dy;
  for_each_window<1, 1>(g, [&](Index output, float size, std::int32_t, auto)
                               COLDPRESS_INLINE_LAMBDA { store(to + output * step, load(dy + output * step) / size); });
  return to;
}
/// The backward pass, given the shares of means.
template <int step>
__attribute__((noinline)) void pool_windows_gradient(PoolingGeometry const& g, float const* dy, float const* places,
                                                     float* dx) {
  auto const add = [&](Index i, Vector v) COLDPRESS_INLINE_LAMBDA { store(dx + i * step, load(dx + i * step) + v); };
  for (Index i = 0; i < g.in(); ++i) store(dx + i * step, Vector{});
  for_each_window<1, 1>(g, [&](Index output, float, std::int32_t, auto taps) COLDPRESS_INLINE_LAMBDA {
    Vector const gradient = load_once(dy + output * step);
    if (g.mode == PoolingMode::average)
      return taps([&](std::int32_t, Index i) COLDPRESS_INLINE_LAMBDA { add(i, gradient); });
    Mask const place = (Mask)load_once(places + output * step);
    taps([&](std::int32_t tap, Index i) COLDPRESS_INLINE_LAMBDA { add(i, place == tap ? gradient : Vector{}); });
  });
}

/// The same for windows of size x size values with the stride `stride`. Each row of dx is written once, from all rows
/// of windows that contain it, and values that neighbouring windows share stay in registers.
template <int size, int stride, int step>
__attribute__((noinline)) void pool_rows_gradient(PoolingGeometry const& g, float const* dy, float const* places,
                                                  float* dx) {
  constexpr bool disjoint = stride >= size;  // disjoint windows add nothing: 0 + -0 is 0, where Quarters has -0
  bool const maxima = g.mode == PoolingMode::max;
  Index const width = g.width.out, in = g.width.in;
  for (Index y = 0; y < g.height.in; ++y, dx += in * step) {
    Index const row = y + g.height.padding, first = row < size ? 0 : (row - size) / stride + 1,
                count = freestanding::min(g.height.out, row / stride + 1) - first;
    std::int32_t const begin = static_cast<std::int32_t>((row - first * stride) * size);
    Vector sum[size] = {};
    Index column = -g.width.padding;
    for (Index k = 0; k < width; ++k, column += stride) {
      Index at = (first * width + k) * step;
      std::int32_t number = begin;
      for (Index i = 0; i < count; ++i, at += width * step, number -= stride * size) {
        Vector const v = load_once(dy + at);
        auto const with_v = [&](int s) COLDPRESS_INLINE_LAMBDA { return disjoint ? v : sum[s] + v; };
        if (maxima) {
          Mask const place = (Mask)load_once(places + at) - number;
          COLDPRESS_UNROLL
          for (int s = 0; s < size; ++s) sum[s] = place == s ? with_v(s) : sum[s];
        } else {
          COLDPRESS_UNROLL
          for (int s = 0; s < size; ++s) sum[s] = with_v(s);
        }
      }
      bool const inside = column >= 0 && column + stride <= in;
      COLDPRESS_UNROLL
      for (int s = 0; s < stride; ++s) {
        if (inside || (column + s >= 0 && column + s < in)) store(dx + (column + s) * step, sum[s]);
      }
      COLDPRESS_UNROLL
      for (int s = 0; s < size; ++s) sum[s] = s + stride < size ? sum[s + stride] : Vector{};
    }
    COLDPRESS_UNROLL
    for (int s = 0; s < size - stride; ++s) {
      if (column < in) store(dx + column++ * step, sum[s]);
    }
    for (; column < in; ++column) store(dx + column * step, Vector{});
  }
}

template <int step>
void pool_lanes(PoolingGeometry const& g, float const* x, float* y, float* places) {
  if (g.height.filter == 2 && g.width.filter == 2) return pool_lanes<2, 2, step>(g, x, y, places);
  if (g.height.filter == 3 && g.width.filter == 3) return pool_lanes<3, 3, step>(g, x, y, places);
  pool_lanes<1, 1, step>(g, x, y, places);
}
template <int step>
void pool_lanes_gradient(PoolingGeometry const& g, float const* dy, float const* places, float* dx) {
  auto const are = [&](Index size, Index stride) {
    auto const is = [&](Axis const& a) { return a.filter == size && a.stride == stride; };
    return g.depth.in == 1 && g.depth.filter == 1 && is(g.height) && is(g.width);
  };
  if (are(2, 2)) return pool_rows_gradient<2, 2, step>(g, dy, places, dx);
  if (are(3, 1)) return pool_rows_gradient<3, 1, step>(g, dy, places, dx);
  if (are(3, 2)) return pool_rows_gradient<3, 2, step>(g, dy, places, dx);
  pool_windows_gradient<step>(g, dy, places, dx);
}

/// Computes y. For maxima, `places` receives the tap number of each maximum.
template <class = void>
__attribute__((noinline)) void pool(PoolingGeometry const& g, float const* x, float* y, float* places, float* scratch) {
  if (Quarters::fit(g)) return Quarters{g}.pool(x, y, places);
  Planes const at{g, scratch};
  Planes::for_each(g, [&](Index first, Index count) {
    transpose<true>(count, g.in(), x + first * g.in(), g.in(), at.inputs, lanes);
    pool_lanes<lanes>(g, at.inputs, at.outputs, at.taken);
    if (g.mode == PoolingMode::max) transpose<true>(g.out(), count, at.taken, lanes, places + first * g.out(), g.out());
    transpose<true>(g.out(), count, at.outputs, lanes, y + first * g.out(), g.out());
  });
}

/// Computes dx, the input gradient.
template <class = void>
__attribute__((noinline)) void pool_gradient(PoolingGeometry const& g, float const* dy, float const* places, float* dx,
                                             float* scratch) {
  if (Quarters::fit(g)) return Quarters{g}.gradient(dy, places, dx);
  Planes const at{g, scratch};
  Planes::for_each(g, [&](Index first, Index count) {
    transpose<true>(count, g.out(), dy + first * g.out(), g.out(), at.outputs, lanes);
    if (g.mode == PoolingMode::max) transpose<true>(count, g.out(), places + first * g.out(), g.out(), at.taken, lanes);
    pool_lanes_gradient<lanes>(g, shares<lanes>(g, at.outputs, at.outputs), at.taken, at.inputs);
    transpose<true>(g.in(), count, at.inputs, lanes, dx + first * g.in(), g.in());
  });
}

/// Plane n of block b of images (core/rows.hpp), in which the lanes are samples. `places` are those of the whole batch,
/// also in blocks.
template <class = void>
__attribute__((noinline)) void pool_plane(PoolingGeometry const& g, float const* x, Rows<float> y, float* places,
                                          Index b, Index n, float* scratch) {
  if (places) places += (b * g.planes + n) * g.out() * block_size;
  write_block(y, b, n * g.out(), g.out(), scratch, [&](float* to) COLDPRESS_INLINE_LAMBDA {
    for (int part = 0; part < block_size; part += lanes)
      pool_lanes<block_size>(g, x + part, to + part, places ? places + part : nullptr);
  });
}
/// The backward pass.
template <class = void>
__attribute__((noinline)) void pool_plane_gradient(PoolingGeometry const& g, Rows<float const> dy, float const* places,
                                                   float* dx, Index b, Index n, float* scratch) {
  if (places) places += (b * g.planes + n) * g.out() * block_size;
  float const* const from = read_block(dy, b, n * g.out(), g.out(), scratch);
  for (int part = 0; part < block_size; part += lanes) {
    pool_lanes_gradient<block_size>(g, shares<block_size>(g, from + part, scratch + part),
                                    places ? places + part : nullptr, dx + part);
  }
}
template <class = void>
void pool_block(PoolingGeometry const& g, Rows<float const> x, Rows<float> y, float* places, Index b, float* scratch) {
  for (Index n = 0; n < g.planes; ++n)
    pool_plane(g, read_block(x, b, n * g.in(), g.in(), scratch), y, places, b, n, scratch + g.in() * block_size);
}
template <class = void>
void pool_block_gradient(PoolingGeometry const& g, Rows<float const> dy, float const* places, Rows<float> dx, Index b,
                         float* scratch) {
  for (Index n = 0; n < g.planes; ++n) {
    write_block(dx, b, n * g.in(), g.in(), scratch + g.out() * block_size,
                [&](float* to) COLDPRESS_INLINE_LAMBDA { pool_plane_gradient(g, dy, places, to, b, n, scratch); });
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
