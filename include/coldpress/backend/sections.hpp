// Blocked rows (core/rows.hpp) as ordinary rows, and operations on rows while they are in the cache.
#pragma once

// Ordinary rows suffice for operations that treat all values alike.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The number of whole blocks in a minibatch. For batches that are too small, the compiler knows that it is 0.
template <class X>
constexpr Index blocks_of(X const& x) {
  return x.rows / block_size;
}
/// `count` rows from `first` on.
template <class T, class Count, class Columns, class Pitch, class Blocked>
Rows<T> some(Rows<T, Count, Columns, Pitch, Blocked> x, Index first, Index count) {
  return {x.row(first), count, x.columns, x.pitch};
}
/// Zeroes the writable columns of all rows from `column` on.
inline void zero_from(Index column, Rows<float> x) {
  for (Index i = 0; i < x.rows; ++i) zero(x.row(i) + column, writable(x) - column);
}
/// Zeroes the padding of a block of a gradient whose samples are rows, so that sums over the padding stay correct.
inline void zero_padding(Rows<float> dx, Index b) {
  if (!dx.blocked) zero_from(dx.columns, some(dx, b * block_size, block_size));
}

/// Leaves rows as they are.
struct Whole {
  template <class X>
  X operator()(X const& x) const {
    return x;
  }
};
/// The rows of blocks, or the rows after them, as ordinary rows. Each block is one row with the values of all of its
/// samples.
struct Section {
  Index first, rows, samples;  // per row

  template <class T, class Count, class Columns, class Pitch, class Blocked>
  Rows<T, Index, Index, Index, std::false_type> operator()(Rows<T, Count, Columns, Pitch, Blocked> x) const {
    return {x.row(first), rows, samples * x.columns, samples * x.pitch};
  }
  template <class Chain, class Join>
  Then<Chain, float, Join> operator()(Then<Chain, float, Join> then) const {
    move(then.kept, then.kept_pitch);
    if constexpr (!std::is_same_v<Join, NoJoin>) move(then.join.other, then.join.pitch), then.join.columns *= samples;
    return then;
  }
  template <class Chain>
  Slope<Chain, float> operator()(Slope<Chain, float> slope) const {
    move(slope.input, slope.input_pitch), move(slope.output, slope.output_pitch);
    return slope;
  }

 private:
  template <class T>
  void move(T*& data, Index& pitch) const {
    if (data) data += first * pitch;
    pitch *= samples;
  }
};
/// f(part) for all of y, where part(x) gives the same rows of x, or of a Then or a Slope, as ordinary rows.
template <class Y, class F>
void by_section(Y y, F f) {
  if constexpr (std::is_same_v<decltype(y.blocked), std::false_type>) {
    f(Whole{});
  } else {
    Index const blocks = y.blocked ? blocks_of(y) : 0, rest = y.rows - blocks * block_size;
    if (blocks > 0) f(Section{0, blocks, block_size});
    if (rest > 0) f(Section{blocks * block_size, rest, 1});
  }
}

/// The epilogue of the sums that become y, or dx.
template <class Y, class Chain, class Join>
Output<Chain, Join> epilogue_of(Y y, Then<Chain, float, Join> const& then, float const* bias = nullptr) {
  return {then, bias, y.data, y.pitch, writable(y)};
}
template <class DX, class Chain>
InputGradient<Chain> epilogue_of(DX dx, Slope<Chain, float> const& slope) {
  return {slope, dx.data, dx.pitch, dx.columns};
}
/// Applies `rest`, a Then or a Slope, to some rows that were stored without it.
template <class Y, class Rest>
void finish(Y y, Rest const& rest, Index first, Index count) {
  if constexpr (!Rest::nothing) {
    if (rest.empty()) return;
    for (Index i = first; i < first + count; ++i) pass_row(y.row(i), y.columns, epilogue_of(y, rest), i);
  }
}
/// The same for a block.
template <class Y, class Rest>
void finish_block(Y y, Rest const& rest, Index b) {
  Index const first = b * block_size;
  if (y.blocked) {
    Section const part{first, 1, block_size};
    finish(part(y), part(rest), 0, 1);
  } else {
    finish(y, rest, first, block_size);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
