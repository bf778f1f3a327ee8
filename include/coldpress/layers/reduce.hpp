// The layer Reduce: the sum or the mean along one axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

enum class ReduceOperation { sum, mean };
constexpr auto spellings(ReduceOperation) { return std::array<std::string_view, 2>{"sum", "mean"}; }

/// The sum or the mean of each sample along one axis, which is removed: {C, H, W} becomes {C, W} along axis 1, and {F}
/// becomes {1}.
struct Reduce {
  static constexpr std::string_view name = "reduce";
  ReduceOperation operation = ReduceOperation::sum;
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(operation == ReduceOperation::sum || operation == ReduceOperation::mean,
            "reduce: operation is not one of its type");
    static_cast<void>(axis_of(in, axis, require));
    return require.failed() ? in : without_axis(in, axis);
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Along const a{pass.in, axis};
    T const whole = divisor<T>(a);
    each_part(backend, pass.x, a.lines(), [&](Index n, auto first, Index last) {
      each_run(first, last, a.inner, [&](Index o, auto begin, Index end) {
        T const* const x = pass.x.row(n) + o * a.extent * a.inner;
        T* const y = pass.y.row(n) + o * a.inner;
        if (a.inner == 1) {
          *y = sum_over<T>(a.extent, [&](Index k) { return x[k]; }) / whole;
          return;
        }
        freestanding::fill_n(y + begin, end - begin, T{});
        for (Index k = 0; k < a.extent; ++k) {
          for (Index i = begin; i < end; ++i) y[i] += x[k * a.inner + i];
        }
        for (Index i = begin; i < end; ++i) y[i] /= whole;
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
  template <class T>
  constexpr T divisor(Along const& a) const {
    return operation == ReduceOperation::mean ? static_cast<T>(a.extent) : T{1};
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Reduce, operation, axis);
