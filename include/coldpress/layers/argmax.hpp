// The layer Argmax: the position of the largest value along an axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The position of the largest value along an axis, counted from 0; the axis's extent becomes 1. The first of equal
/// maxima counts, and a NaN is larger than anything. No gradient passes through the layer.
struct Argmax {
  static constexpr std::string_view name = "argmax";
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in[axis_of(in, axis, require)] <= Index{1} << 24, "argmax: a place beyond 2^24 is no float");
    return with_extent(in, axis, 1);
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Along const a{pass.in, axis};
    each_part(backend, pass.x, a.lines(), [&](Index n, Index first, Index last) {
      for (Index line = first; line < last; ++line) {
        T const* const x = pass.x.row(n) + a.line(line);
        pass.y.row(n)[line] = static_cast<T>(first_maximum(x, a.extent, a.inner));
      }
    });
  }
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(Argmax const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Argmax, axis);
