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
/// Room in scratch for rows like these. `scratch` then points to what is left of it.
inline Rows<float> rows_for(Rows<float> x, float*& scratch) {
  Rows<float> const rows{scratch, x.rows, x.columns, Layout::pitch(x.columns)};
  scratch += x.rows * rows.pitch;
  return rows;
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
struct BlockedRows {
  Index first, rows, samples;  // per row

  template <class T, class Count, class Columns, class Pitch, class Blocked>
  Rows<T, Index, Index, Index, std::false_type> operator()(Rows<T, Count, Columns, Pitch, Blocked> x) const {
    return {x.row(first), rows, samples * x.columns, samples * x.pitch};
  }
  template <class Chain, class Join>
  PostOps<Chain, float, Join> operator()(PostOps<Chain, float, Join> post_ops) const {
    move(post_ops.kept, post_ops.kept_pitch);
    if constexpr (!std::is_same_v<Join, NoJoin>)
      move(post_ops.join.other, post_ops.join.pitch), post_ops.join.columns *= samples;
    return post_ops;
  }
  template <class Chain, class Adds>
  Derivative<Chain, float, Adds> operator()(Derivative<Chain, float, Adds> derivative) const {
    move(derivative.input, derivative.input_pitch), move(derivative.output, derivative.output_pitch);
    return derivative;
  }

 private:
  template <class T>
  void move(T*& data, Index& pitch) const {
    if (data) data += first * pitch;
    pitch *= samples;
  }
};
/// f(part) for all of y, where part(x) gives the same rows of x, or of PostOps or a Derivative, as ordinary rows.
template <class Y, class F>
void for_blocked_rows(Y y, F f) {
  if constexpr (std::is_same_v<decltype(y.blocked), std::false_type>) {
    f(Whole{});
  } else {
    Index const blocks = y.blocked ? blocks_of(y) : 0, rest = y.rows - blocks * block_size;
    if (blocks > 0) f(BlockedRows{0, blocks, block_size});
    if (rest > 0) f(BlockedRows{blocks * block_size, rest, 1});
  }
}

/// The epilogue of the sums that become y, or dx. `Ops` says which operations of an erased chain it applies in
/// registers.
template <template <class> class Ops = CommonOps, class Y, class Chain, class Join>
Output<Chain, Join, Ops<Chain>> epilogue_of(Y y, PostOps<Chain, float, Join> const& post_ops,
                                            float const* bias = nullptr) {
  return {post_ops, bias, y.data, y.pitch, writable(y)};
}
template <template <class> class Ops = CommonOps, class DX, class Chain, class Adds>
InputGradient<Chain, Adds, Ops<Chain>> epilogue_of(DX dx, Derivative<Chain, float, Adds> const& derivative) {
  return {derivative, dx.data, dx.pitch, dx.columns};
}
/// to += x
inline void add_rows(Rows<float> x, Rows<float> to) {
  Derivative<Chain<>, float, std::true_type> const adding{};
  for (Index i = 0; i < x.rows; ++i) pass_row(x.row(i), x.columns, epilogue_of(to, adding), i);
}
/// Applies `rest`, PostOps or a Derivative, to some rows that were stored without it.
template <class Y, class Rest>
void finish(Y y, Rest const& rest, Index first, Index count) {
  if constexpr (!Rest::nothing) {
    if (rest.empty()) return;
    for (Index i = first; i < first + count; ++i) pass_row(y.row(i), y.columns, epilogue_of<PassOps>(y, rest), i);
  }
}
/// The same for a block.
template <class Y, class Rest>
void finish_block(Y y, Rest const& rest, Index b) {
  Index const first = b * block_size;
  if (y.blocked) {
    BlockedRows const part{first, 1, block_size};
    finish(part(y), part(rest), 0, 1);
  } else {
    finish(y, rest, first, block_size);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
