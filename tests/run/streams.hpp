// What holds for every stream of a network in blocks of steps.
#pragma once

#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/core/random.hpp>
#include <coldpress/run/stream.hpp>

#include <cstring>
#include <numeric>
#include <vector>

namespace coldpress::test {

/// Layers like those of models of amplifiers, which a stream computes together, and some that are like them but for
/// one thing: the order, another reader, an operand.
constexpr auto stack(auto in, auto x, Index channels, Index groups) {
  auto const by_step = [](auto const& value, Index outputs, bool biased) {
    return value | Convolution{.num_output = outputs, .filter_shape = 1, .has_bias = biased};
  };
  x = by_step(x, channels, false);
  auto head = x;
  for (int l = 0; l < 6; ++l) {
    Convolution const filter{
        .num_output = channels, .filter_shape = 3, .dilation = Index{1} << l, .groups = groups, .has_bias = l != 4};
    auto mixed = x;
    if (l == 1) mixed = by_step(in, channels, true);
    auto const filtered = x | filter;
    if (l != 1) mixed = by_step(in, channels, l % 2 == 1);
    auto const sum = l == 2 ? mixed + filtered : filtered + mixed;
    auto const z = l == 3   ? sum
                   : l == 0 ? sum | Sigmoid{}
                   : l == 4 ? sum | LeakyReLU{.slope = 0.1f}
                   : l == 5 ? sum | ReLU{}
                            : sum | TanH{};
    if (l == 2) head = head + z;
    auto const next = by_step(z, channels, true);
    if (l == 5) head = head * filtered + z * z;
    x = l == 4 ? next : x + next;
    if (l != 2) head = l == 3 ? z + head : l == 4 ? head + x : head + z;
  }
  return head + x;
}
inline constexpr auto stacks = graph(
    [](auto in) { return stack(in, stack(in, in, 4, 2), 20, 1) | Convolution{.num_output = 2, .filter_shape = 3}; });
/// These stacks have the numbers of channels for which there are special kernels.
inline constexpr auto usual_stacks = graph([](auto in) {
  auto x = in;
  for (Index const channels : {2, 3, 4, 8, 16}) x = stack(in, x, channels, 1);
  return x;
});

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
  return {{steps}, {1}, {7}, {16}, {64}, {512}, {3, 0, 64, 1, 130, 17, 2}};
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
