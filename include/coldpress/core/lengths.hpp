// How many of its steps, or keys, each sample of a minibatch has.
#pragma once

#include <coldpress/core/shape.hpp>

namespace coldpress {

/// Numbers of steps or keys, one for each sample, as a layer receives them in an input {1}. What lies beyond them may
/// be anything.
template <class T>
struct Lengths {
  T const* data = nullptr;  // null: every sample has all
  Index pitch = 0;

  constexpr explicit operator bool() const { return data != nullptr; }
  /// That of sample n, of which there are at most `most`. A fraction is dropped; NaN and numbers below 1 are 0.
  constexpr Index of(Index n, Index most) const {
    if (!data) return most;
    T const length = data[n * pitch];
    return length > 0 ? (length < static_cast<T>(most) ? static_cast<Index>(length) : most) : 0;
  }
  /// The same from a sample on.
  constexpr Lengths from(Index first) const { return {data ? data + first * pitch : nullptr, pitch}; }
};

}  // namespace coldpress
