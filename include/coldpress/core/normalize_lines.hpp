// Softmax along any axis, by the backend's primitive for rows.
#pragma once

// A backend with one thread per value reads the lines where they are in memory. For others, some lines at a time are
// copied to scratch, where they are rows.

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

namespace detail {

/// All lines of all samples as a matrix, whose rows are not contiguous in memory.
template <class T>
struct AllLines {
  struct Line {
    T* data;
    Index inner;
    constexpr T& operator[](Index k) const { return data[k * inner]; }
  };
  T* data;
  Index pitch;
  Along along;
  Index rows, columns;
  constexpr Line row(Index n) const {
    return {data + n / along.lines() * pitch + along.line(n % along.lines()), along.inner};
  }
};
template <class X>
constexpr auto all_lines(Along const& a, X const& x) {
  return AllLines<std::remove_reference_t<decltype(*x.data)>>{x.data, x.pitch, a, x.rows * a.lines(), a.extent};
}

/// Some lines of a sample. Value k of line l is at start + l * stride + k * inner.
struct Lines {
  Index start, stride, inner;

  template <class T>
  constexpr void gather(T const* x, Rows<T> const& rows) const {
    for (Index l = 0; l < rows.rows; ++l) {
      for (Index k = 0; k < rows.columns; ++k) rows.row(l)[k] = x[start + l * stride + k * inner];
    }
  }
  template <class T>
  constexpr void scatter(Rows<T> const& rows, T* y) const {
    for (Index l = 0; l < rows.rows; ++l) {
      for (Index k = 0; k < rows.columns; ++k) y[start + l * stride + k * inner] = rows.row(l)[k];
    }
  }
};
/// The number of lines that start at equal distances, and how many of them are normalised at once.
constexpr Index lines_in_a_run(Along const& a) { return a.inner == 1 ? a.outer : a.inner; }
constexpr Index lines_at_once(Along const& a) { return freestanding::min<Index>(lines_in_a_run(a), 64); }

/// Calls f(sample, backend, lines, rows) for all lines of all samples. The rows are scratch for the lines.
template <class Backend, class F>
constexpr void each_lines(Backend const& backend, Along const& a, auto const& samples, F f) {
  using T = typename Backend::Scalar;
  Index const stride = a.inner == 1 ? a.extent : 1, most = lines_at_once(a), pitch = Backend::pitch(a.extent),
              run = lines_in_a_run(a);
  each_sample(backend, samples, [&](Index n, Backend const& by) {
    for (Index o = 0; o < a.lines() / run; ++o) {
      Index const start = o * a.extent * a.inner;
      for (Index first = 0; first < run; first += most)
        f(n, by, Lines{start + first * stride, stride, a.inner},
          Rows<T>{by.scratch, freestanding::min(most, run - first), a.extent, pitch});
    }
  });
}

}  // namespace detail

/// The scratch, in values, that normalize_lines needs, and normalize_lines_gradient too if `gradient` is set.
template <class Backend>
constexpr Index normalize_lines_scratch(Along const& a, bool gradient, int workers) {
  if constexpr (many_threads<Backend>) return 0;
  return workers * (gradient ? 2 : 1) * detail::lines_at_once(a) * Backend::pitch(a.extent);
}
/// Computes y = softmax or log softmax of each line along an axis; y may be x.
template <class Backend, class X, class Y>
constexpr void normalize_lines(Backend const& backend, Normalization kind, Along const& a, X const& x, Y const& y) {
  if constexpr (many_threads<Backend>) {
    backend.normalize(kind, detail::all_lines(a, x), detail::all_lines(a, y));
  } else {
    detail::each_lines(backend, a, x, [&](Index n, auto const& by, auto const& lines, auto const& rows) {
      lines.gather(x.row(n), rows);
      by.normalize(kind, rows, rows);
      lines.scatter(rows, y.row(n));
    });
  }
}
/// Computes dx from y and dy; dx may be dy.
template <class Backend, class Y, class DY, class DX>
constexpr void normalize_lines_gradient(Backend const& backend, Normalization kind, Along const& a, Y const& y,
                                        DY const& dy, DX const& dx) {
  if constexpr (many_threads<Backend>) {
    backend.normalize_gradient(kind, detail::all_lines(a, y), detail::all_lines(a, dy), detail::all_lines(a, dx));
  } else {
    detail::each_lines(backend, a, dx, [&](Index n, auto const& by, auto const& lines, auto const& own_y) {
      auto own_dy = own_y;
      own_dy.data = own_y.row(own_y.rows);
      lines.gather(y.row(n), own_y);
      lines.gather(dy.row(n), own_dy);
      by.normalize_gradient(kind, own_y, own_dy, own_dy);
      lines.scatter(own_dy, dx.row(n));
    });
  }
}

}  // namespace coldpress
