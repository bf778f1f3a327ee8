// The layer Gather: values along an axis, selected by numbers.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

/// The parts of each sample of the first input, at the places along one axis that the second input names, in its order
/// (ONNX' Gather and PyTorch's index_select, with places of each sample's own): {steps, features} and {K} become
/// {K, features} along axis 0. Places are counted from 0. Any other value becomes NaNs, and gives no gradient. A place
/// that is named several times gets the sum of their gradients, in their order; the places get no gradient.
struct Gather {
  static constexpr std::string_view name = "gather";
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    require(in.size() == 2, "gather: takes two inputs, values and places");
    if (require.failed()) return {};
    int const along = axis_of(in[0], axis, require);
    require(in[0][along] <= Index{1} << 24, "gather: an axis may have at most 2^24 values");
    return require.failed() ? in[0] : with_extent(in[0], along, in[1].size());
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    Along const a{pass.in[0], axis};
    Index const count = pass.in[1].size();
    each_part(backend, pass.y, a.lines() * count, [&](Index n, auto first, Index last) {
      each_run(first, last, a.inner, [&](Index run, auto begin, Index end) {
        T const place = pass.x[1].row(n)[run % count];
        T* const y = pass.y.row(n) + run * a.inner + begin;
        if (is_label(place, a.extent)) {
          Index const from = (run / count * a.extent + static_cast<Index>(place)) * a.inner;
          freestanding::copy_n(pass.x[0].row(n) + from + begin, end - begin, y);
        } else {
          freestanding::fill_n(y, end - begin, std::numeric_limits<T>::quiet_NaN());
        }
      });
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Along const a{pass.in[0], axis};
    Index const count = pass.in[1].size();
    auto const &dx = pass.dx[0], &of_places = pass.dx[1];
    if (dx.data) {
      each_part(backend, dx, a.lines() * a.extent, [&](Index n, auto first, Index last) {
        freestanding::fill_n(dx.row(n) + first, last - first, T{});
        each_run(first, last, a.extent * a.inner, [&](Index o, auto begin, Index end) {
          for (Index k = 0; k < count; ++k) {
            T const place = pass.x[1].row(n)[k];
            if (!is_label(place, a.extent)) continue;
            Index const start = static_cast<Index>(place) * a.inner;
            Index const from = freestanding::max<Index>(begin, start), to = freestanding::min(end, start + a.inner);
            T const* const dy = pass.dy.row(n) + (o * count + k) * a.inner - start;
            for (Index i = from; i < to; ++i) dx.row(n)[o * a.extent * a.inner + i] += dy[i];
          }
        });
      });
    }
    if (of_places.data) {
      each_part(backend, of_places, count, [&](Index n, auto first, Index last) {
        freestanding::fill_n(of_places.row(n) + first, last - first, T{});
      });
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  bool operator==(Gather const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Gather, axis);
