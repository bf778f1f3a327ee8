// The inputs of the exported networks, and how their outputs are printed.
#pragma once

#include <coldpress/coldpress.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

namespace embedded {

inline constexpr int stream_steps = 20;

/// Part t of a signal of numbers between -1 and 1, in parts of `size` values.
inline std::vector<float> part(int t, int size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] =
        2 * coldpress::RandomStream{9}.uniform(static_cast<std::uint64_t>(t * size + i)) - 1;
  return values;
}
inline void print(std::span<float const> values) {
  for (float const value : values) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::printf("%08x\n", static_cast<unsigned>(bits));
  }
}

}  // namespace embedded
