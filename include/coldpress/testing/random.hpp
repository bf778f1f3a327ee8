// Random numbers for tests: the same on every machine, and exactly representable as floats even in doubles.
#pragma once

#include <coldpress/core/random.hpp>
#include <coldpress/core/shape.hpp>

#include <vector>

namespace coldpress::testing {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : stream_{seed, 0, "test"} {}

  /// A number in [low, high].
  constexpr Index integer(Index low, Index high) {
    return low + static_cast<Index>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// A float in [low, high).
  constexpr float uniform(float low = -1, float high = 1) {
    return low + (high - low) * static_cast<float>(next() >> 8) * 0x1p-24f;
  }
  template <class T>
  std::vector<T> values(Index count, float low = -1, float high = 1) {
    std::vector<T> result(static_cast<std::size_t>(count));
    for (T& value : result) value = static_cast<T>(uniform(low, high));
    return result;
  }

 private:
  constexpr std::uint32_t next() { return stream_.block(position_++).words[0]; }
  RandomStream stream_;
  std::uint64_t position_ = 0;
};

/// Shape number `index`: of rank 1 to 3, with extents that are 1, odd, prime, and some longer than a vector. It has at
/// most `most` values.
constexpr Shape law_shape(int index, Index most = 60) {
  constexpr Index extents[] = {1, 2, 3, 5, 7, 11, 13, 16, 17, 19, 23};
  Random random{static_cast<std::uint64_t>(index)};
  Shape shape{};
  int const rank = 1 + index % 3;
  for (Index size = 1; int axis : {0, 1, 2}) {
    if (axis == rank) break;
    Index extent = extents[random.integer(0, 10)];
    while (size * extent > most) extent = extents[random.integer(0, 4)];
    while (size * extent > most) --extent;
    size *= shape.extents[axis] = extent;
  }
  return shape;
}

}  // namespace coldpress::testing
