// The layer Reduce: sums, means, maxima, minima or products along an axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

enum class ReduceOperation { sum, mean, max, min, prod };
constexpr auto spellings(ReduceOperation) {
  return std::array<std::string_view, 5>{"sum", "mean", "max", "min", "prod"};
}

/// The sum, mean, maximum, minimum or product of each sample along one axis, which is removed: {C, H, W} becomes {C, W}
/// along axis 1, and {F} becomes {1}. The gradient of a maximum or minimum goes to the value that it comes from, and to
/// the first one of several that are equal (as with PyTorch's max(dim), but not its amax). A NaN counts as the maximum,
/// and as the minimum.
struct Reduce {
  static constexpr std::string_view name = "reduce";
  ReduceOperation operation = ReduceOperation::sum;
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(operation >= ReduceOperation::sum && operation <= ReduceOperation::prod,
            "reduce: operation is not one of its type");
    Index const extent = in[axis_of(in, axis, require)];
    require(!selects() || extent <= Index{1} << 24, "reduce: an axis with a maximum may have at most 2^24 values");
    return require.failed() ? in : without_axis(in, axis);
  }
  /// For a maximum or a minimum, its place on the axis. For a product, the product of the others for each value.
  constexpr Index memory(Shape const& in) const {
    return selects() ? Along{in, axis}.lines() : operation == ReduceOperation::prod ? in.size() : 0;
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Along const a{pass.in, axis};
    each_part(backend, pass.x, a.lines(), [&](Index n, auto first, Index last) {
      each_run(first, last, a.inner, [&](Index o, auto begin, Index end) {
        T const* const x = pass.x.row(n) + o * a.extent * a.inner;
        T* const y = pass.y.row(n) + o * a.inner;
        if (selects()) {
          select(a, x, y, pass.memory + n * a.lines() + o * a.inner, begin, end);
        } else if (operation == ReduceOperation::prod) {
          multiply(a, x, y, pass.memory + (n * a.outer + o) * a.extent * a.inner, begin, end);
        } else {
          add(a, x, y, begin, end);
        }
      });
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Along const a{pass.in, axis};
    T const whole = divisor<T>(a);
    each_part(backend, pass.dx, a.lines() * a.extent, [&](Index n, auto first, Index last) {
      each_run(first, last, a.extent * a.inner, [&](Index o, auto begin, Index end) {
        T const* const dy = pass.dy.row(n) + o * a.inner;
        T* const dx = pass.dx.row(n) + o * a.extent * a.inner;
        if (operation == ReduceOperation::prod) {
          T const* const others = pass.memory + (n * a.outer + o) * a.extent * a.inner;
          each_run(begin, end, a.inner, [&](Index k, auto from, Index to) {
            for (Index i = from; i < to; ++i) dx[k * a.inner + i] = dy[i] * others[k * a.inner + i];
          });
          return;
        }
        if (selects()) {
          T const* const places = pass.memory + n * a.lines() + o * a.inner;
          each_run(begin, end, a.inner, [&](Index k, auto from, Index to) {
            T const place = static_cast<T>(k);
            for (Index i = from; i < to; ++i) dx[k * a.inner + i] = places[i] == place ? dy[i] : T{};
          });
          return;
        }
        if (a.inner == 1) {
          freestanding::fill_n(dx + begin, end - begin, *dy / whole);
          return;
        }
        each_run(begin, end, a.inner, [&](Index k, auto from, Index to) {
          for (Index i = from; i < to; ++i) dx[k * a.inner + i] = dy[i] / whole;
        });
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  bool operator==(Reduce const&) const = default;

 private:
  constexpr bool selects() const { return operation == ReduceOperation::max || operation == ReduceOperation::min; }
  template <class T>
  constexpr T divisor(Along const& a) const {
    return operation == ReduceOperation::mean ? static_cast<T>(a.extent) : T{1};
  }
  // Each of these computes y[begin] to y[end - 1], for lines that begin at x[i] and have their values a.inner apart.
  template <class T>
  constexpr void add(Along const& a, T const* x, T* y, auto begin, Index end) const {
    T const whole = divisor<T>(a);
    if (a.inner == 1) {
      *y = sum_over<T>(a.extent, [&](Index k) { return x[k]; }) / whole;
      return;
    }
    freestanding::fill_n(y + begin, end - begin, T{});
    for (Index k = 0; k < a.extent; ++k) {
      for (Index i = begin; i < end; ++i) y[i] += x[k * a.inner + i];
    }
    for (Index i = begin; i < end; ++i) y[i] /= whole;
  }
  template <class T>
  constexpr void select(Along const& a, T const* x, T* y, T* places, auto begin, Index end) const {
    bool const least = operation == ReduceOperation::min;
    for (Index i = begin; i < end; ++i) y[i] = x[i], places[i] = T{};
    for (Index k = 1; k < a.extent; ++k) {
      for (Index i = begin; i < end; ++i) {
        T const value = x[k * a.inner + i], best = y[i];
        bool const better = (least ? value < best : value > best) || (value != value && best == best);
        y[i] = better ? value : best;
        places[i] = better ? static_cast<T>(k) : places[i];
      }
    }
  }
  /// The products of the others are those of the values before, times those of the values after: right for zeros, too.
  template <class T>
  constexpr void multiply(Along const& a, T const* x, T* y, T* others, auto begin, Index end) const {
    freestanding::fill_n(y + begin, end - begin, T{1});
    for (Index k = 0; k < a.extent; ++k) {
      for (Index i = begin; i < end; ++i) others[k * a.inner + i] = y[i], y[i] *= x[k * a.inner + i];
    }
    freestanding::fill_n(y + begin, end - begin, T{1});
    for (Index k = a.extent - 1; k >= 0; --k) {
      for (Index i = begin; i < end; ++i) others[k * a.inner + i] *= y[i], y[i] *= x[k * a.inner + i];
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Reduce, operation, axis);
