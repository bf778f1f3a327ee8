// A pooling in the same pass as a convolution: the convolution's values pass through scratch and never reach memory.
#pragma once

#include <coldpress/backend/blocked_rows.hpp>
#include <coldpress/backend/image_blocks.hpp>
#include <coldpress/backend/pooling.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Rows of the pooled values of a convolution. The convolution writes and reads its own values as if they were in
/// memory, but at any time only some planes of a block, or a few samples, exist in scratch.
template <class T, class Rest = Derivative<Chain<>, float>>
struct PooledRows : Rows<T> {
  Windows<float> windows;
  Rest rest;  // what is applied to the values before they are pooled

  /// The number of values per sample before pooling.
  Index size() const { return windows.geometry.planes * windows.geometry.in(); }
  /// The places of the maxima of sample i, for samples that are in no block.
  float* places(Index i) const { return windows.places + i * windows.geometry.planes * windows.geometry.out(); }
};
template <class T, class Rest>
COLDPRESS_INLINE float const* read_block(PooledRows<T, Rest> const& dy, Index b, Index first, Index count,
                                         float* scratch) {
  Rows<T> const& rows = dy;
  if (!dy.windows) return read_block(rows, b, first, count, scratch);
  PoolingGeometry const& g = dy.windows.geometry;
  for (Index p = 0; p < count; p += g.in()) {
    pool_plane_gradient(g, rows, dy.windows.places, scratch + p * block_size, b, (first + p) / g.in(),
                        scratch + count * block_size);
  }
  return scratch;
}
template <class T, class Rest, class Compute>
COLDPRESS_INLINE void write_block(PooledRows<T, Rest> const& y, Index b, Index first, Index count, float* scratch,
                                  Compute compute) {
  Rows<T> const& rows = y;
  if (!y.windows) return write_block(rows, b, first, count, scratch, compute);
  PoolingGeometry const& g = y.windows.geometry;
  compute(scratch);
  if (y.windows.last) finish(Rows<float>{scratch, 1, count * block_size, count * block_size}, y.rest, 0, 1);
  for (Index p = 0; p < count; p += g.in()) {
    pool_plane(g, scratch + p * block_size, rows, y.windows.places, b, (first + p) / g.in(),
               scratch + count * block_size);
  }
}
/// Pools some samples that are not in blocks: compute(z, scratch) writes their values.
template <class Compute>
COLDPRESS_INLINE void write_images(Rows<float> y, Index first, Index count, float* scratch, Compute compute) {
  compute(some(y, first, count), scratch);
}
template <class Rest, class Compute>
void write_images(PooledRows<float, Rest> const& y, Index first, Index count, float* scratch, Compute compute) {
  if (!y.windows) return compute(some(y, first, count), scratch);
  Rows<float> const z{scratch, count, y.size(), Layout::pitch(y.size())};
  scratch += count * z.pitch;
  compute(z, scratch);
  if (y.windows.last) finish(z, y.rest, 0, count);
  for (Index i = 0; i < count; ++i) pool(y.windows.geometry, z.row(i), y.row(first + i), y.places(first + i), scratch);
}
/// The backward pass: the gradients of the values before pooling. `scratch` then points to what is left of it.
COLDPRESS_INLINE Rows<float const> read_images(Rows<float const> dy, Index first, Index count, float*&) {
  return some(dy, first, count);
}
template <class = void>
Rows<float const> read_images(PooledRows<float const> const& dy, Index first, Index count, float*& scratch) {
  if (!dy.windows) return some(dy, first, count);
  Rows<float> const z{scratch, count, dy.size(), Layout::pitch(dy.size())};
  scratch += count * z.pitch;
  for (Index i = 0; i < count; ++i)
    pool_gradient(dy.windows.geometry, dy.row(first + i), dy.places(first + i), z.row(i), scratch);
  return z;
}
/// The rows in the form that the kernels take.
template <class T, class Rest = Derivative<Chain<>, float>>
Rows<T> behind(NoWindows, Rows<T> rows, Rest const& = {}) {
  return rows;
}
template <class T, class Rest = Derivative<Chain<>, float>>
PooledRows<T, Rest> behind(Windows<float> const& windows, Rows<T> rows, Rest const& rest = {}) {
  return {rows, windows, rest};
}
/// What remains to be applied to the values that convolve_block has written.
template <class Windows, class Rest>
auto left(Windows const& windows, Rest const& rest) {
  using Last = std::remove_cvref_t<decltype(windows.last)>;
  if constexpr (std::is_same_v<Last, std::false_type>) {
    return rest;
  } else if constexpr (std::is_same_v<Last, std::true_type>) {
    return PostOps<Chain<>, float, NoJoin>{};
  } else {
    Rest some = rest;
    if (windows.last) some.chain.length = 0;
    return some;
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
