// A matrix in memory: one row a sample, or in blocks of samples. Extents are Index or Fixed<n>; kernels take both.
#pragma once

#include <coldpress/core/shape.hpp>

namespace coldpress {

/// Distance of padded rows of n values: whole cache lines, and no multiple of 1 KiB, since such rows share L1 sets.
constexpr Index padded_pitch(Index n) {
  n = (n + 15) / 16 * 16;
  return n % 256 == 0 ? n + 16 : n;
}

/// Samples of a block.
inline constexpr Index block_size = 16;

/// Where they are `blocked`, as many rows as are whole blocks of 16 have the sample innermost: element e of sample i of
/// a block is at e * 16 + i from where the block's first row starts. Those left over are rows as ever.
template <class T, class Count = Index, class Columns = Index, class Pitch = Index, class Blocked = bool>
struct Rows {
  using Scalar = std::remove_const_t<T>;
  T* data;
  [[no_unique_address]] Count rows;
  [[no_unique_address]] Columns columns;
  [[no_unique_address]] Pitch pitch;
  [[no_unique_address]] Blocked blocked = {};

  constexpr T* row(Index i) const { return data + i * pitch; }
  constexpr operator Rows<T const, Count, Columns, Pitch, Blocked>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, pitch, blocked};
  }
  /// The same rows for a function that leaves all extents to run time.
  template <class U>
  requires std::is_convertible_v<T*, U*>
  constexpr operator Rows<U>() const { return {data, rows, columns, pitch, blocked}; }
};

template <class T, class Count, class Columns, class Pitch>
Rows(T*, Count, Columns, Pitch) -> Rows<T, Count, Columns, Pitch>;

}  // namespace coldpress
