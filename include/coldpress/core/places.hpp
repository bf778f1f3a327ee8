// Walks an array in order, and with it the places in another array, by strides, that belong to its values.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress {

/// The distances between neighbours along each axis of a row-major array.
struct Strides {
  Index of[Shape::max_rank] = {};
  constexpr Strides() = default;
  constexpr explicit Strides(Shape const& shape) {
    Index step = 1;
    for (int a = shape.rank(); a-- > 0; step *= shape[a]) of[a] = step;
  }
};

/// Calls f(to, from, count, step) for runs along the last axis that together are the places [first, last) of a
/// row-major array of this shape: place to + k belongs to place from + k step of the other array, which is at 0 for
/// place 0, and moves by `strides` along the axes.
template <class F>
constexpr void each_run_of(Shape const& shape, Strides const& strides, Index first, Index last, F f) {
  int const end = shape.rank() - 1;
  Index at[Shape::max_rank] = {}, from = 0, rest = first;
  for (int a = end; a >= 0; rest /= shape[a--]) at[a] = rest % shape[a], from += at[a] * strides.of[a];
  for (Index to = first; to < last;) {
    Index const count = freestanding::min(last - to, shape[end] - at[end]);
    f(to, from, count, strides.of[end]);
    to += count, from -= at[end] * strides.of[end], at[end] = 0;
    for (int a = end; a-- > 0;) {
      from += strides.of[a];
      if (++at[a] < shape[a]) break;
      from -= at[a] * strides.of[a];
      at[a] = 0;
    }
  }
}

}  // namespace coldpress
