// The layer Slice: a range of one axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The part [begin, end) of each sample along one axis. Negative numbers, and an end of 0, count from the axis's end:
/// {.begin = -2} gives the last two.
struct Slice {
  static constexpr std::string_view name = "slice";
  int axis = 0, begin = 0, end = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    Index const extent = in[axis_of(in, axis, require)], from = first(extent), to = end > 0 ? end : extent + end;
    require(from >= 0 && from < to && to <= extent, "slice: begin and end must enclose a part of the axis");
    return require.failed() ? in : with_extent(in, axis, to - from);
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    if constexpr (is_signal<std::remove_cvref_t<decltype(pass.x)>>) {
      Along const x{pass.in, axis}, y{output_shape(pass.in), axis};
      Index const count = y.extent * y.inner;
      for (Index o = 0; o < x.outer; ++o) {
        Index const from = (o * x.extent + first(x.extent)) * x.inner;
        backend.copy(pass.x.part(from, count), pass.y.part(o * count, count));
      }
    } else {
      for_each_run(backend, pass.in, pass.y, [&](Index n, Index in_x, Index in_y, Index count) {
        freestanding::copy_n(pass.x.row(n) + in_x, count, pass.y.row(n) + in_y);
      });
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    each_part(backend, pass.dx, pass.dx.columns, [&](Index n, auto first, Index last) {
      freestanding::fill_n(pass.dx.row(n) + first, last - first, T{});
    });
    for_each_run(backend, pass.in, pass.dx, [&](Index n, Index in_x, Index in_y, Index count) {
      freestanding::copy_n(pass.dy.row(n) + in_y, count, pass.dx.row(n) + in_x);
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .signals = true, .copies = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(Slice const&) const = default;

 private:
  constexpr Index first(Index extent) const { return begin < 0 ? extent + begin : begin; }
  /// f(sample, place in x, place in y, count) for all ranges of values that stay contiguous.
  template <class F>
  constexpr void for_each_run(auto const& backend, Shape const& in, auto const& samples, F f) const {
    Along const x{in, axis}, y{output_shape(in), axis};
    Index const count = y.extent * y.inner;
    each_part(backend, samples, x.outer * count, [&](Index n, auto from, Index to) {
      each_run(from, to, count, [&](Index o, auto left, Index right) {
        f(n, (o * x.extent + first(x.extent)) * x.inner + left, o * count + left, right - left);
      });
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Slice, axis, begin, end);
