// What holds for every stream of a network in blocks of steps.
#pragma once

#include "support/catch.hpp"

#include <coldpress/core/random.hpp>
#include <coldpress/run/stream.hpp>

#include <cstring>
#include <numeric>
#include <vector>

namespace coldpress::test {

inline std::vector<float> noise(Index count, std::uint64_t key = 1) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * RandomStream{key}.uniform(i) - 1;
  return x;
}

/// Lets a sequence through a stream in blocks of these sizes, in turn.
template <class T>
std::vector<T> streamed(BasicStream<T>& stream, std::vector<T> const& x, Index in, Index out,
                        std::vector<Index> const& blocks) {
  auto const steps = static_cast<Index>(x.size()) / in;
  std::vector<T> y(static_cast<std::size_t>(steps * out));
  std::size_t next = 0;
  for (Index first = 0; first < steps;) {
    Index const count = std::min(blocks[next++ % blocks.size()], steps - first);
    stream.process({x.data() + first * in, static_cast<std::size_t>(count * in)},
                   {y.data() + first * out, static_cast<std::size_t>(count * out)});
    first += count;
  }
  return y;
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// The cuts of a sequence that must not change a bit of it.
inline std::vector<std::vector<Index>> cuts(Index steps) {
  return {{steps}, {1}, {7}, {16}, {64}, {512}, {3, 0, 64, 1, 130, 17}};
}

/// Compares a stream with `expected`, the outputs for x from a new state, for all cuts. make(most) makes a stream.
template <class T, class Make>
void check_cuts(Make make, std::vector<T> const& x, Index in, std::vector<T> const& expected) {
  auto const steps = static_cast<Index>(x.size()) / in, out = static_cast<Index>(expected.size()) / steps;
  for (Index most : {1, 20, 64, 512}) {
    for (auto const& blocks : cuts(steps)) {
      auto stream = make(most);
      INFO("made for " << most << " steps, first block " << blocks[0]);
      CHECK(same_bits(streamed(stream, x, in, out, blocks), expected));
    }
  }
}

}  // namespace coldpress::test
