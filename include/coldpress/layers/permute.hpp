// The layer Permute: changes the order of the axes.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/places.hpp>

namespace coldpress {

/// An order of a sample's axes; Axes{} leaves the axes as they are.
struct Axes {
  static constexpr int max = Shape::max_rank;
  static constexpr std::string_view takes = "integers, one for each axis", limit = "axes are possible";
  int order[max] = {0, 1, 2, 3, 4, 5, 6, 7};
  int count = 0;
  constexpr Axes() = default;
  static constexpr Axes of(int const* all, int count) {
    Axes axes;
    for (; axes.count < count; ++axes.count) axes.order[axes.count] = all[axes.count];
    return axes;
  }
  template <class... More>
  constexpr Axes(int first, More... more) : order{first, static_cast<int>(more)...}, count(1 + sizeof...(More)) {}
  /// Constructs it from its members. nvcc writes template arguments in this form.
  constexpr Axes(int const (&all)[max], int given) : count(given) {
    for (int a = 0; a < max; ++a) order[a] = all[a];
  }
  constexpr int const* data() const { return order; }
  constexpr bool operator==(Axes const& other) const {
    bool same = count == other.count;
    for (int a = 0; a < count && same; ++a) same = order[a] == other.order[a];
    return same;
  }
};

/// Changes the order of a sample's axes: axis i of the output is axis axes[i] of the input.
struct Permute {
  static constexpr std::string_view name = "permute";
  Axes axes = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(axes.count == 0 || axes.count == in.rank(), "permute: names another number of axes than the input has");
    Shape out{};
    bool seen[Axes::max] = {};
    for (int a = 0; a < in.rank(); ++a) {
      int const from = axes.order[a];
      require(from >= 0 && from < in.rank() && !seen[from], "permute: each axis must be named once");
      seen[from] = true;
      out.extents[a] = in[from];
    }
    return out;
  }
  // The shape comes before the strides: in the other order, nvcc 13.0 lets a kernel keep both in the same memory.
  constexpr void forward(auto const& backend, auto const& pass) const {
    Shape const out = output_shape(pass.in);
    Strides const strides = strides_in(pass.in);
    each_part(backend, pass.y, pass.y.columns, [&](Index n, auto first, Index last) {
      auto const* const x = pass.x.row(n);
      auto* const y = pass.y.row(n);
      each_run_of(out, strides, first, last, [&](Index to, Index from, Index count, Index step) {
        for (Index k = 0; k < count; ++k) y[to + k] = x[from + k * step];
      });
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    Shape const out = output_shape(pass.in);
    Strides const strides = strides_in(pass.in);
    each_part(backend, pass.dy, pass.dy.columns, [&](Index n, auto first, Index last) {
      auto const* const dy = pass.dy.row(n);
      auto* const dx = pass.dx.row(n);
      each_run_of(out, strides, first, last, [&](Index to, Index from, Index count, Index step) {
        for (Index k = 0; k < count; ++k) dx[from + k * step] = dy[to + k];
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(in.rank() > 1 && axes.order[0] == 0)};
  }
  bool operator==(Permute const&) const = default;

 private:
  constexpr Strides strides_in(Shape const& in) const {
    Strides const of_input{in};
    Strides strides;
    for (int a = 0; a < in.rank(); ++a) strides.of[a] = of_input.of[axes.order[a]];
    return strides;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Axes, order, count);
COLDPRESS_FIELDS(coldpress::Permute, axes);
