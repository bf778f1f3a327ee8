// What gets small in a stream: recurrent state stays among normal numbers, and types and configs keep their equal bits.
#include "support/catch.hpp"

#include <coldpress/backend/cpu_fast.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace {

using namespace coldpress;

constexpr Shape in{4};
constexpr std::size_t features = 4, steps = 1200;
using Sound = std::vector<float>;

Sound signal(auto value) {
  Sound x(steps * features);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = value(i / features) * (2 * RandomStream{3}.uniform(i) - 1);
  return x;
}
/// Sound that fades by a sixth in each step, sound and then silence, and values that are denormal from the beginning.
std::vector<Sound> small_signals() {
  return {signal([](std::size_t t) { return static_cast<float>(std::pow(0.85, static_cast<double>(t))); }),
          signal([](std::size_t t) { return t < 64 ? 1.f : 0.f; }), signal([](std::size_t) { return 1e-39f; })};
}

/// The outputs; and `slow` steps in which a result was denormal and not exact, also one that only passes by in a
/// kernel.
template <class Net>
__attribute__((noinline)) Sound played(Net& net, Sound const& x, std::size_t& slow) {
  Sound y;
  slow = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    std::feclearexcept(FE_ALL_EXCEPT);
    auto const step = net.step(std::span<float const>{x.data() + t * features, features});
    slow += std::fetestexcept(FE_UNDERFLOW) != 0;
    y.insert(y.end(), step.begin(), step.end());
  }
  net.reset();
  return y;
}
template <class Net>
Sound played(Net& net, Sound const& x) {
  std::size_t slow = 0;
  return played(net, x, slow);
}

template <class Net>
void check_equal_bits(Sound const& x, Sound const& y) {
  auto config = dynamic::Layer::from_config(dynamic::Backend::like_static(), dynamic::to_config<Net, in>(), {}, 7);
  config.set_mode(dynamic::Mode::inference);
  Sound const other = played(config, x);
  REQUIRE(other.size() == y.size());
  CHECK(std::memcmp(other.data(), y.data(), y.size() * sizeof(float)) == 0);
}

template <RnnType type, class Backend = DefaultBackend, bool reset_after = true>
void check_recurrent() {
  using Net = Sequential<Rnn{
      .hidden_size = 9, .num_layers = 2, .rnn_type = type, .reset_after = reset_after, .output = RnnOutput::last_step}>;
  Network<Net, in, Batch<1>, Backend> net{7};
  for (Sound const& x : small_signals()) {
    std::size_t slow = 0;
    Sound const y = played(net, x, slow);
    if constexpr (std::is_same_v<Backend, DefaultBackend>) check_equal_bits<Net>(x, y);
    if constexpr (type == RnnType::relu) continue;  // whose sums begin with zero
    CAPTURE(type);
    CHECK(slow <= steps / 100);  // a sum that passes through zero may get there once in a while
    CHECK(std::none_of(y.begin(), y.end(), [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }));
  }
}

}  // namespace

TEST_CASE("A recurrent stream keeps out of denormal numbers while its inputs and its state get small") {
  check_recurrent<RnnType::lstm>();
  check_recurrent<RnnType::gru>();
  check_recurrent<RnnType::gru, DefaultBackend, false>();
  check_recurrent<RnnType::tanh>();
  check_recurrent<RnnType::relu>();
  check_recurrent<RnnType::lstm, CpuFast>();
  check_recurrent<RnnType::gru, CpuFast>();
}

TEST_CASE("A filter has the same bits as a type and as a config where its inputs are denormal") {
  using Net = Sequential<Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2}, TanH{}, Linear{3}>;
  Network<Net, in, Batch<1>> net{7};
  for (Sound const& x : small_signals()) check_equal_bits<Net>(x, played(net, x));
}

/// Kernels for x86-64-v2, which has no fused multiply-add: without special care each product of a small input is a
/// denormal number. Nothing where this machine does not run them.
std::optional<dynamic::Backend> without_fma() {
  try {
    return dynamic::Backend{"cpu:v2"};
  } catch (UnsupportedError const&) {
    return std::nullopt;
  }
}

/// At most `most` steps of a stream have a denormal result, and a whole sequence has the stream's bits.
template <class Net>
void check_products(dynamic::Backend const& backend, char const* name, std::size_t most) {
  auto const network = [&](Shape const& sample) {
    auto net = dynamic::Layer::from_config(backend, dynamic::to_config<Net, in>(), sample, 7);
    net.set_mode(dynamic::Mode::inference);
    return net;
  };
  auto stream = network(in), whole = network(Shape{steps, features});
  for (Sound const& x : small_signals()) {
    CAPTURE(name);
    std::size_t slow = 0;
    Sound const y = played(stream, x, slow);
    CHECK(slow <= most);
    CHECK(std::none_of(y.begin(), y.end(), [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }));
    auto const all = whole.predict(x);
    REQUIRE(all.size() == y.size());
    CHECK(std::memcmp(all.data(), y.data(), y.size() * sizeof(float)) == 0);
  }
}

TEST_CASE(
    "Without fused multiply-add, too, streams keep out of denormal numbers, and whole sequences have their bits") {
  auto const backend = without_fma();
  if (!backend) {
    WARN("skipped: this machine does not run kernels for x86-64-v2");
    return;
  }
  constexpr Convolution filter{.num_output = 5, .filter_shape = 3, .dilation = 2},
      wide{.num_output = 6, .filter_shape = 2}, narrow{.num_output = 4, .filter_shape = 11},
      many{.num_output = 80, .filter_shape = 1};
  constexpr std::size_t some = steps / 100;  // sums that pass through zero
  check_products<Sequential<Rnn{.hidden_size = 9, .num_layers = 2}>>(*backend, "LSTM", some);
  check_products<Sequential<Rnn{.hidden_size = 9, .num_layers = 2, .rnn_type = RnnType::gru}>>(*backend, "GRU", some);
  check_products<Sequential<Rnn{.hidden_size = 9, .num_layers = 2, .rnn_type = RnnType::gru, .reset_after = false}>>(
      *backend, "GRU with the reset before", some);
  check_products<Sequential<Rnn{.hidden_size = 9, .num_layers = 2, .rnn_type = RnnType::tanh}>>(*backend, "tanh", some);
  check_products<Sequential<Rnn{.hidden_size = 9, .num_layers = 2, .rnn_type = RnnType::relu}>>(*backend, "ReLU", 0);
  check_products<Sequential<filter>>(*backend, "a filter", 0);
  check_products<Sequential<narrow>>(*backend, "a filter of many taps", 0);
  check_products<Sequential<many, wide>>(*backend, "a filter of more channels than are flushed once", some);
  check_products<Sequential<filter, TanH{}, wide, Sigmoid{}>>(*backend, "filters and activations", some);
}

template <RnnType type>
float largest_of_silence() {
  using Net = Sequential<Rnn{.hidden_size = 9, .rnn_type = type, .output = RnnOutput::last_step}>;
  Network<Net, in, Batch<1>> net{7};
  float largest = 0;
  for (float const value : played(net, Sound(steps * features))) largest = std::max(largest, std::abs(value));
  return largest;
}

TEST_CASE("Zeros in and biases of zero: what comes out of a recurrent layer is below 2^-50, and zero of a ReLU") {
  CHECK(largest_of_silence<RnnType::lstm>() < 0x1p-50f);
  CHECK(largest_of_silence<RnnType::gru>() < 0x1p-50f);
  CHECK(largest_of_silence<RnnType::tanh>() < 0x1p-50f);
  CHECK(largest_of_silence<RnnType::relu>() == 0);
}
