// A matrix in memory with one row per sample, or in blocks of samples.
#pragma once

// Extents are Index or Fixed<n>; kernels take both.

#include <coldpress/core/shape.hpp>

namespace coldpress {

/// The size of n values with those that fill up the last cache line, in values.
constexpr Index padded_size(Index n) { return (n + 15) / 16 * 16; }
/// The distance between padded rows of n values, in values: whole cache lines, but not a multiple of 1 KiB, since such
/// rows would share the same sets of the L1 cache.
constexpr Index padded_pitch(Index n) {
  n = padded_size(n);
  return n % 256 == 0 ? n + 16 : n;
}

/// The number of samples per block.
inline constexpr Index block_size = 16;

/// A matrix of rows. If `blocked` is set, the samples of each whole block of 16 are interleaved: element e of sample i
/// of a block is at e * 16 + i, counted from the start of the block's first row. The remaining samples are ordinary
/// rows.
template <class T, class Count = Index, class Columns = Index, class Pitch = Index, class Blocked = bool>
struct Rows {
  using Scalar = std::remove_const_t<T>;
  T* data;
  [[no_unique_address]] Count rows;
  [[no_unique_address]] Columns columns;
  [[no_unique_address]] Pitch pitch;
  [[no_unique_address]] Blocked blocked = {};

  constexpr T* row(Index i) const { return data + i * pitch; }
  /// The same rows for what is compiled once for all sizes and layouts of a sample.
  constexpr Rows<T, Count> sized() const { return {data, rows, columns, pitch, blocked}; }
  constexpr operator Rows<T const, Count, Columns, Pitch, Blocked>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, pitch, blocked};
  }
  /// The same rows for a function whose extents are all run-time values.
  template <class U>
  requires std::is_convertible_v<T*, U*>
  constexpr operator Rows<U>() const { return {data, rows, columns, pitch, blocked}; }
};

template <class T, class Count, class Columns, class Pitch>
Rows(T*, Count, Columns, Pitch) -> Rows<T, Count, Columns, Pitch>;

/// The time of a stream: the number of steps in the current block, and of all steps before it.
struct StepClock {
  Index steps = 0, now = 0;
};

/// A block of consecutive steps of one sequence, with a row for each feature: feature c of step t is row(c)[t]. Any
/// number of features then fills the lanes of a vector, which are steps. Whole vectors may be read and written. Rows
/// are rings (core/geometry.hpp) where `mask` is not 0, and the time is read where it is used, so that recorded calls
/// serve every block.
template <class T, class Features = Index>
struct Signal {
  using Scalar = std::remove_const_t<T>;
  T* data;
  [[no_unique_address]] Features features;
  StepClock const* clock;
  Index pitch, mask = 0;

  constexpr Index steps() const { return clock->steps; }
  /// Where the block begins in a row.
  constexpr Index place() const { return clock->now & mask; }
  constexpr T* row(Index feature) const { return data + feature * pitch + place(); }
  /// Some of the features.
  constexpr Signal<T> part(Index first, Index count) const { return {data + first * pitch, count, clock, pitch, mask}; }
  /// The same as a matrix for functions that treat every value alike.
  constexpr Rows<T, Features> matrix() const { return {row(0), features, steps(), pitch}; }
  constexpr operator Signal<T const, Features>() const requires(!std::is_const_v<T>) {
    return {data, features, clock, pitch, mask};
  }
  template <class U>
  requires std::is_convertible_v<T*, U*>
  constexpr operator Signal<U>() const { return {data, features, clock, pitch, mask}; }
};
template <class X>
constexpr bool is_signal = false;
template <class T, class Features>
constexpr bool is_signal<Signal<T, Features>> = true;

}  // namespace coldpress
