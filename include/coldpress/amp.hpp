// Networks for models of guitar amplifiers: the architectures of the Neural Amp Modeler, as functions.
#pragma once

#include <coldpress/typed/blocks.hpp>

namespace coldpress::amp {

/// A dilated causal convolution with `filter` taps that are `dilation` steps apart.
struct Tap {
  Index filter, dilation;
};
/// Filters with these dilations, all of one size.
template <std::size_t n>
constexpr std::array<Tap, n> taps(Index filter, std::array<Index, n> const& dilations) {
  std::array<Tap, n> all{};
  for (std::size_t i = 0; i < n; ++i) all[i] = {filter, dilations[i]};
  return all;
}
/// The number of steps before its own on which an output of these filters, one after the other, depends.
template <std::size_t n>
constexpr Index run_in(std::array<Tap, n> const& filters) {
  Index steps = 0;
  for (Tap const& tap : filters) steps += (tap.filter - 1) * tap.dilation;
  return steps;
}

namespace detail {

/// Initial weights have the variance that PyTorch gives them, 1 / (3 fan_in), and so have biases.
constexpr Convolution convolution(Index inputs, Index outputs, Tap tap, bool has_bias) {
  Gaussian const initial{.deviation = 1 / coldpress::freestanding::square_root(3 * inputs * tap.filter)};
  return {.num_output = outputs,
          .filter_shape = tap.filter,
          .dilation = tap.dilation,
          .has_bias = has_bias,
          .weight = initial,
          .bias = initial};
}
constexpr Convolution by_step(Index inputs, Index outputs, bool has_bias) {
  return convolution(inputs, outputs, {1, 1}, has_bias);
}

/// The end of a stack: the sum of what its layers give to the head, and what goes on to the next stack.
template <class Value>
struct Ends {
  Value head, x;
};
/// In each layer, z = activation(convolution of x + the signal times a factor of each channel) is added to the head,
/// and a Linear of each step of z is added to x. `last` says that no stack follows, so that the last x is not needed.
/// The layers have the order and the names of those that convert::read_nam makes.
template <class Value, std::size_t n>
constexpr Ends<Value> stack(int number, Value signal, Ends<Value> in, Index channels, std::array<Tap, n> const& filters,
                            auto const& activation, bool last) {
  auto [head, x] = in;
  x = x | by_step(x.shape().last(), channels, false) | suggested_name("array", number, ".rechannel");
  for (std::size_t i = 0; i < n; ++i) {
    auto const called = [&](char const* part) { return suggested_name("array", number, ".layer", i, ".", part); };
    auto const filtered = x | convolution(channels, channels, filters[i], true) | called("conv");
    auto const mixed = signal | by_step(1, channels, false) | called("input_mixin");
    auto const sum = (filtered + mixed) | called("sum");
    auto const z = sum | activation | called("activation");
    if (!last || i + 1 < n) {
      auto const next = z | by_step(channels, channels, true) | called("layer1x1");
      x = (x + next) | called("residual");
    }
    head = number == 0 && i == 0 ? z : (head + z) | called("skip");
  }
  return {head, x};
}
template <class Value>
constexpr Value scaled(Value head, float scale) {
  return head | Power{.scale = scale} | suggested_name("head_scale");
}

template <class Value, std::size_t n, std::size_t m>
constexpr Value a1(Value signal, Index outer, Index inner, std::array<Tap, n> const& first,
                   std::array<Tap, m> const& second) {
  auto ends = stack(0, signal, {signal, signal}, outer, first, TanH{}, false);
  ends.head = ends.head | by_step(outer, inner, false) | suggested_name("array0.head");
  ends = stack(1, signal, ends, inner, second, TanH{}, true);
  return scaled(ends.head | by_step(inner, 1, true) | suggested_name("array1.head"), 0.02f);
}
template <class Value, std::size_t n>
constexpr Value a2(Value signal, Index channels, std::array<Tap, n> const& filters, Tap head) {
  auto const ends = stack(0, signal, {signal, signal}, channels, filters, LeakyReLU{0.01f}, true);
  return scaled(ends.head | convolution(channels, 1, head, true) | suggested_name("array0.head"), 0.01f);
}

inline constexpr auto octaves = taps<10>(3, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
inline constexpr auto low_octaves = taps<7>(3, {1, 2, 4, 8, 16, 32, 64});
inline constexpr auto other_octaves = taps<13>(3, {128, 256, 512, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
inline constexpr std::array<Tap, 23> a2_filters = {
    Tap{6, 1}, {6, 3},   {6, 7},  {6, 17},  {6, 41}, {6, 101}, {6, 239}, {6, 1},  {6, 3},  {6, 7},   {6, 17}, {6, 41},
    {6, 101},  {6, 239}, {15, 1}, {15, 13}, {6, 1},  {6, 3},   {6, 7},   {6, 17}, {6, 41}, {6, 101}, {6, 239}};
inline constexpr Tap a2_head{16, 1};

}  // namespace detail

// Each is a network of one signal: {steps, 1} gives {steps, 1}, of which the first steps, fewer than `run_in`, are
// those after silence; {1} is a stream of single steps. Network<Graph<amp::a1_standard>, Shape{8192, 1}> is one as a
// type, dynamic::to_config(amp::a1_standard, Shape{1}) its config.
inline constexpr auto a1_standard =
    graph([](auto signal) { return detail::a1(signal, 16, 8, detail::octaves, detail::octaves); });
inline constexpr auto a1_lite =
    graph([](auto signal) { return detail::a1(signal, 12, 6, detail::low_octaves, detail::other_octaves); });
inline constexpr auto a1_feather =
    graph([](auto signal) { return detail::a1(signal, 8, 4, detail::low_octaves, detail::other_octaves); });
inline constexpr auto a1_nano =
    graph([](auto signal) { return detail::a1(signal, 4, 2, detail::low_octaves, detail::other_octaves); });
inline constexpr auto a2_full =
    graph([](auto signal) { return detail::a2(signal, 8, detail::a2_filters, detail::a2_head); });
inline constexpr auto a2_lite =
    graph([](auto signal) { return detail::a2(signal, 3, detail::a2_filters, detail::a2_head); });

/// The number of steps before its own on which an output of each network depends.
inline constexpr Index a1_standard_run_in = 2 * run_in(detail::octaves);
inline constexpr Index a1_small_run_in = run_in(detail::low_octaves) + run_in(detail::other_octaves);
inline constexpr Index a2_run_in = run_in(detail::a2_filters) + detail::a2_head.filter - 1;

/// Calls f(name, network, run_in) for each architecture.
template <class F>
constexpr void for_each_architecture(F const& f) {
  f("a1-standard", a1_standard, a1_standard_run_in);
  f("a1-lite", a1_lite, a1_small_run_in);
  f("a1-feather", a1_feather, a1_small_run_in);
  f("a1-nano", a1_nano, a1_small_run_in);
  f("a2-full", a2_full, a2_run_in);
  f("a2-lite", a2_lite, a2_run_in);
}

/// The steps of a network's output for which the target has values: the last ones, after the run-in.
template <class Recorder>
constexpr Value<Recorder> after_run_in(Value<Recorder> y, Value<Recorder> target) {
  Index const run_in = y.shape()[0] - target.shape()[0];
  require(run_in >= 0, "after_run_in: the target has more steps than the output");
  return slice(y, static_cast<int>(run_in), 0);
}

}  // namespace coldpress::amp
