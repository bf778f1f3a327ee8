// A network whose weights are constants. The same source runs on the host and on the board.
#pragma once

#include <coldpress/coldpress.hpp>

#include <array>

namespace embedded {

using namespace coldpress;
using Type = Sequential<Convolution{.num_output = 8, .filter_shape = 3}, TanH{},
                        Rnn{.hidden_size = 6, .output = RnnOutput::last_step}, Linear{2}, Sigmoid{}>;
using Net = Network<Type, Shape{3}, Batch<1>, ConstantWeights<>>;

/// Values between -1 and 1 that look random.
template <std::size_t n>
constexpr std::array<float, n> values(std::uint64_t stream) {
  std::array<float, n> all{};
  for (std::size_t i = 0; i < n; ++i) all[i] = 2 * RandomStream{stream}.uniform(i) - 1;
  return all;
}
template <int i>
constexpr auto weight = values<static_cast<std::size_t>(Net::weight_shape(i).size())>(i + 1);

constexpr Net::Weights weights = [] {
  return []<int... i>(std::integer_sequence<int, i...>) {
    return Net::arranged(weight<i>...);
  }(std::make_integer_sequence<int, Net::weight_count>{});
}();

inline constexpr int steps = 40;
constexpr auto signal = values<static_cast<std::size_t>(steps * 3)>(77);

/// Calls print(y) for both outputs of every step.
template <class Print>
void run(Net& net, Print print) {
  for (int t = 0; t < steps; ++t) {
    for (float const y : net.step(std::span<float const>{signal.data() + 3 * t, 3}).values) print(y);
  }
}

}  // namespace embedded
