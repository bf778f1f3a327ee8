// The layer Expand: repeats values along axes, so that they can be joined with others.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/places.hpp>

namespace coldpress {

/// Whether values of one shape can be repeated to those of another: its axes, aligned with the last ones of the other,
/// have the same extents or 1.
constexpr bool expands_to(Shape const& from, Shape const& to) {
  int const more = to.rank() - from.rank();
  bool fits = more >= 0;
  for (int a = 0; fits && a < from.rank(); ++a) fits = from[a] == 1 || from[a] == to[a + more];
  return fits;
}

/// Repeats a sample's values to a shape, as NumPy broadcasts: {C, 1, 1} becomes {C, H, W}, and {F} becomes {T, F}. The
/// gradient of a value is the sum of those of its copies.
struct Expand {
  static constexpr std::string_view name = "expand";
  Shape shape = {10};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(shape.size() > 0, "expand: the shape has no values");
    require(in.size() > 0 && expands_to(in, shape),
            "expand: each axis of the input, aligned with the last axes of the shape, must have its extent or 1");
    return shape;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    Strides const strides = strides_in(pass.in);
    each_part(backend, pass.y, pass.y.columns, [&](Index n, auto first, Index last) {
      auto const* const x = pass.x.row(n);
      auto* const y = pass.y.row(n);
      each_run_of(shape, strides, first, last, [&](Index to, Index from, Index count, Index step) {
        if (step == 0) {
          freestanding::fill_n(y + to, count, x[from]);
        } else {
          freestanding::copy_n(x + from, count, y + to);
        }
      });
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Shape const in = aligned(pass.in);
    Shape copies = shape;  // of each value
    for (int a = 0; a < shape.rank(); ++a) copies.extents[a] = in[a] == 1 ? shape[a] : 1;
    Strides const out{shape};
    Index const count = copies.size();
    each_part(backend, pass.dx, pass.in.size(), [&](Index n, auto first, Index last) {
      T const* const dy = pass.dy.row(n);
      T* const dx = pass.dx.row(n);
      each_run_of(in, out, first, last, [&](Index to, Index from, Index values, Index step) {
        for (Index k = 0; k < values; ++k) {
          T total{};
          each_run_of(copies, out, 0, count, [&](Index, Index at, Index run, Index) {
            total += sum_over<T>(run, [&](Index i) { return dy[from + k * step + at + i]; });
          });
          dx[to + k] = total;
        }
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  bool operator==(Expand const&) const = default;

 private:
  /// The input's shape with as many axes as the output has.
  constexpr Shape aligned(Shape const& in) const {
    Shape all = shape;
    int const more = shape.rank() - in.rank();
    for (int a = 0; a < shape.rank(); ++a) all.extents[a] = a < more ? 1 : in[a - more];
    return all;
  }
  constexpr Strides strides_in(Shape const& in) const {
    Shape const all = aligned(in);
    Strides strides{all};
    for (int a = 0; a < shape.rank(); ++a) strides.of[a] *= all[a] > 1;
    return strides;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Expand, shape);
