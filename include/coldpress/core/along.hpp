// Axes of a sample and sums in a fixed order, for layers that are written as plain loops.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

#include <type_traits>

namespace coldpress {

/// The number, from 0, of the axis that a layer's field `axis` names: negative numbers count from the last axis, which
/// is -1. Throws ShapeError if the sample has no such axis.
template <class Needs = Require>
constexpr int axis_of(Shape const& in, int axis, Needs require = {}) {
  int const rank = in.rank();
  require(in.size() > 0 && axis >= -rank && axis < rank, "axis: the sample has no axis of this number");
  if (require.failed()) return 0;
  return axis < 0 ? axis + rank : axis;
}

/// A sample seen as {outer, extent, inner}, where `extent` is the axis. A line is the values along the axis for one
/// outer and one inner index; value k of line (o, i) is at (o * extent + k) * inner + i.
struct Along {
  Index outer, extent, inner;

  constexpr Along(Index before, Index on, Index after) : outer(before), extent(on), inner(after) {}
  constexpr Along(Shape const& in, int axis) : outer(1), extent(in[axis_of(in, axis)]), inner(1) {
    int const middle = axis_of(in, axis);
    for (int a = 0; a < in.rank(); ++a) (a < middle ? outer : inner) *= a == middle ? 1 : in[a];
  }
  constexpr Index lines() const { return outer * inner; }
  /// The offset of a line's first value. Its values are `inner` values from each other.
  constexpr Index line(Index n) const { return n / inner * extent * inner + n % inner; }
  /// The place on the axis of the sample's value j.
  constexpr Index place(Index j) const { return j / inner % extent; }
};

/// Whether an operation along this axis treats each step of a sequence {steps, ...} separately.
constexpr bool keeps_steps(Shape const& in, int axis) { return in.rank() > 1 && axis_of(in, axis) > 0; }

/// The shape with a different extent on the axis.
constexpr Shape with_extent(Shape in, int axis, Index extent) {
  in.extents[axis_of(in, axis)] = extent;
  return in;
}
/// The shape without the axis, or {1} if it was the only one.
constexpr Shape without_axis(Shape in, int axis) {
  int const rank = in.rank();
  for (int a = axis_of(in, axis); a + 1 < rank; ++a) in.extents[a] = in.extents[a + 1];
  in.extents[rank - 1] = rank == 1 ? 1 : 0;
  return in;
}

/// Calls f(number, begin, end) for each run of `size` indices that overlaps [first, last). begin and end are the
/// overlap, counted from the start of the run. With first = Fixed<0> the range is a whole sample (see core/each.hpp),
/// and all runs are whole.
template <class First, class F>
__attribute__((always_inline)) constexpr void each_run(First first, Index last, Index size, F const& f) {
  if constexpr (requires { First::value; }) {
    for (Index n = 0; n < last / size; ++n) f(n, first, size);
  } else {
    for (Index n = first / size; n * size < last; ++n)
      f(n, freestanding::max<Index>(0, first - n * size), freestanding::min(size, last - n * size));
  }
}

/// The index of the largest of the values x[0], x[inner], ...: the first one if several are equal. A NaN counts as
/// larger than every number.
template <class T>
constexpr Index first_maximum(T const* x, Index extent, Index inner) {
  Index best = 0;
  for (Index k = 1; k < extent; ++k) {
    T const most = x[best * inner], value = x[k * inner];
    if (value > most || (value != value && most == most)) best = k;
  }
  return best;
}

/// Returns the largest of f(0), ..., f(n - 1), n > 0. A NaN counts as larger than every number.
template <class T, class F>
__attribute__((always_inline)) constexpr T maximum_over(Index n, F f) {
  constexpr Index width = 16;
  T part[width];
  auto const take = [](T& most, T value) { most = value > most || value != value ? value : most; };
  for (T& most : part) most = f(0);
  Index i = 0;
  for (; i + width <= n; i += width) {
    for (Index j = 0; j < width; ++j) take(part[j], f(i + j));
  }
  for (; i < n; ++i) take(part[0], f(i));
  for (T const& most : part) take(part[0], most);
  return part[0];
}

namespace detail {
/// Adds up values as a tree of halves: value j and value j + width / 2 first.
template <int width, class T>
__attribute__((always_inline)) constexpr T add_halves(T const* values) {
  T sums[width / 2] = {};
#if !defined __CUDACC__
  constexpr bool fits_vectors = std::is_same_v<T, float> || std::is_same_v<T, double>;
  if (fits_vectors && !__builtin_is_constant_evaluated()) {
    // As vectors, because g++ 12 would take each value out of its register.
    typedef std::conditional_t<fits_vectors, T, float> Half __attribute__((vector_size(width / 2 * sizeof(T))));
    Half low, high;
    __builtin_memcpy(&low, values, sizeof low);
    __builtin_memcpy(&high, values + width / 2, sizeof high);
    low += high;
    __builtin_memcpy(sums, &low, sizeof low);
  } else
#endif
  {
    for (int j = 0; j < width / 2; ++j) sums[j] = values[j] + values[j + width / 2];
  }
  if constexpr (width == 2) {
    return sums[0];
  } else {
    return add_halves<width / 2>(sums);
  }
}
}  // namespace detail

/// Returns f(0) + ... + f(n - 1). It keeps sixteen partial sums, which compilers hold in vectors, and adds them up as a
/// tree.
template <class T, class F>
__attribute__((always_inline)) constexpr T sum_over(Index n, F f) {
  constexpr Index width = 16;
  T part[width] = {};
  Index i = 0;
  for (; i + width <= n; i += width) {
    for (Index j = 0; j < width; ++j) part[j] += f(i + j);
  }
  for (Index j = 0; i + j < n; ++j) part[j] += f(i + j);
  return detail::add_halves<width>(part);
}

}  // namespace coldpress
