// The layer SoftmaxOver: softmax or log softmax along one axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The softmax, or its logarithm, of each line of a sample along one axis: y = e^x / Σ e^x, as in Mocha. For all values
/// of a sample at once, use Softmax and LogSoftmax.
struct SoftmaxOver {
  static constexpr std::string_view name = "softmax_over";
  int axis = 0;
  bool logarithm = false;

  constexpr Shape output_shape(Shape const& in) const {
    static_cast<void>(axis_of(in, axis));
    return in;
  }

  // The backend normalises rows, so some lines at a time are copied into rows.
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    if constexpr (many_threads<Backend>) return 0;
    Along const a{in, axis};
    return extent.workers * (extent.input_gradient ? 2 : 1) * at_once(a) * Backend::pitch(a.extent);
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    if constexpr (many_threads<decltype(backend)>) {
      backend.normalize(kind(), all_lines(pass.in, pass.x), all_lines(pass.in, pass.y));
    } else {
      for_each_part(backend, pass.in, pass.x, [&](Index n, auto const& by, auto const& lines, auto const& rows) {
        lines.gather(pass.x.row(n), rows);
        by.normalize(kind(), rows, rows);
        lines.scatter(rows, pass.y.row(n));
      });
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    if constexpr (many_threads<decltype(backend)>) {
      backend.normalize_gradient(kind(), all_lines(pass.in, pass.y), all_lines(pass.in, pass.dy),
                                 all_lines(pass.in, pass.dx));
    } else {
      for_each_part(backend, pass.in, pass.dx, [&](Index n, auto const& by, auto const& lines, auto const& y) {
        auto dy = y;
        dy.data = y.row(y.rows);
        lines.gather(pass.y.row(n), y);
        lines.gather(pass.dy.row(n), dy);
        by.normalize_gradient(kind(), y, dy, dy);
        lines.scatter(dy, pass.dx.row(n));
      });
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = true, .in_place = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(SoftmaxOver const&) const = default;

 private:
  /// All lines of all samples, as a matrix whose rows are not contiguous.
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
  constexpr auto all_lines(Shape const& in, X const& x) const {
    Along const a{in, axis};
    return AllLines<std::remove_reference_t<decltype(*x.data)>>{x.data, x.pitch, a, x.rows * a.lines(), a.extent};
  }

  /// Some lines of a sample: value k of line l is at start + l * apart + k * inner.
  struct Lines {
    Index start, apart, inner;

    template <class T>
    constexpr void gather(T const* x, Rows<T> const& rows) const {
      for (Index l = 0; l < rows.rows; ++l) {
        for (Index k = 0; k < rows.columns; ++k) rows.row(l)[k] = x[start + l * apart + k * inner];
      }
    }
    template <class T>
    constexpr void scatter(Rows<T> const& rows, T* y) const {
      for (Index l = 0; l < rows.rows; ++l) {
        for (Index k = 0; k < rows.columns; ++k) y[start + l * apart + k * inner] = rows.row(l)[k];
      }
    }
  };
  /// The number of lines that start at equal distances, and how many of them are normalised at once.
  static constexpr Index run(Along const& a) { return a.inner == 1 ? a.outer : a.inner; }
  static constexpr Index at_once(Along const& a) { return freestanding::smaller<Index>(run(a), 64); }
  constexpr Normalization kind() const { return logarithm ? Normalization::log_softmax : Normalization::softmax; }

  /// f(sample, backend, lines, rows in scratch for them) for all lines of all samples.
  template <class Backend, class F>
  constexpr void for_each_part(Backend const& backend, Shape const& in, auto const& samples, F f) const {
    using T = typename Backend::Scalar;
    Along const a{in, axis};
    Index const apart = a.inner == 1 ? a.extent : 1, most = at_once(a), pitch = Backend::pitch(a.extent);
    each_sample(backend, samples, [&](Index n, Backend const& by) {
      for (Index o = 0; o < a.lines() / run(a); ++o) {
        Index const start = o * a.extent * a.inner;
        for (Index first = 0; first < run(a); first += most)
          f(n, by, Lines{start + first * apart, apart, a.inner},
            Rows<T>{by.scratch, freestanding::smaller(most, run(a) - first), a.extent, pitch});
      }
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SoftmaxOver, axis, logarithm);
