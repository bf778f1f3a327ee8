// The layer TopK: the largest values along an axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The k largest values along an axis, the largest first; the extent of the axis becomes k (the values of PyTorch's
/// topk and of ONNX' TopK). Of equal values, the first one comes first; a NaN counts as larger than every number. The
/// gradient goes to the places that the values come from.
struct TopK {
  static constexpr std::string_view name = "top_k";
  Index k = 1;
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    Index const extent = in[axis_of(in, axis, require)];
    require(k >= 1 && k <= extent, "top_k: k must be from 1 to the extent of the axis", extent);
    require(extent <= Index{1} << 24, "top_k: an axis may have at most 2^24 values");
    return require.failed() ? in : with_extent(in, axis, k);
  }
  /// Where on the axis each value of the output comes from.
  constexpr Index memory(Shape const& in) const { return Along{in, axis}.lines() * k; }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Along const a{pass.in, axis};
    each_part(backend, pass.x, a.lines(), [&](Index n, auto first, Index last) {
      for (Index line = first; line < last; ++line) {
        T const* const x = pass.x.row(n) + a.line(line);
        Index const to = line / a.inner * k * a.inner + line % a.inner;
        T *const y = pass.y.row(n) + to, *const places = pass.memory + n * a.lines() * k + to;
        for (Index e = 0; e < a.extent; ++e) {
          T const value = x[e * a.inner];
          Index at = freestanding::min(e, k);  // of a place in y, or its end
          for (; at > 0 && is_larger(value, y[(at - 1) * a.inner]); --at) {
            if (at == k) continue;
            y[at * a.inner] = y[(at - 1) * a.inner], places[at * a.inner] = places[(at - 1) * a.inner];
          }
          if (at < k) y[at * a.inner] = value, places[at * a.inner] = static_cast<T>(e);
        }
      }
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Along const a{pass.in, axis};
    each_part(backend, pass.dx, pass.dx.columns, [&](Index n, auto first, Index last) {
      freestanding::fill_n(pass.dx.row(n) + first, last - first, T{});
    });
    each_part(backend, pass.dx, a.lines() * k, [&](Index n, auto first, Index last) {
      for (Index i = first; i < last; ++i) {
        auto const place = static_cast<Index>(pass.memory[n * a.lines() * k + i]);
        Index const to = (i / (k * a.inner) * a.extent + place) * a.inner + i % a.inner;
        pass.dx.row(n)[to] = pass.dy.row(n)[i];
      }
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(TopK const&) const = default;

 private:
  template <class T>
  static constexpr bool is_larger(T a, T b) {
    return a > b || (a != a && b == b);
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::TopK, k, axis);
