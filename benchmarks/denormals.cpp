#include "denormals.hpp"

#include "timing.hpp"
#include "workloads.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace bench {
namespace {

using namespace coldpress;

constexpr int features = 4, per_block = 64, blocks = 16, repeats = 200;

template <RnnType type>
using Recurrent = Sequential<Rnn{.hidden_size = 32, .rnn_type = type, .output = RnnOutput::last_step}, Linear{1}>;

template <auto activation>
using Filtered = Sequential<Convolution{.num_output = 16, .filter_shape = 3, .dilation = 4}, activation>;

/// One value for each step of a stream.
using Signal = std::vector<float>;

template <class F>
Signal signal(F value) {
  Signal x(static_cast<std::size_t>(blocks * per_block * features));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = value(i / features, i % features);
  return x;
}

/// The nanoseconds per step in the slowest block of steps, where each block counts with the fastest of many repeats. A
/// slowdown that lasts for a block is seen, and other activity of the machine is not.
template <class Step, class Reset>
double slowest(Signal const& x, Step step, Reset reset) {
  std::array<double, blocks> best;
  best.fill(std::numeric_limits<double>::infinity());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    reset();
    float const* at = x.data();
    for (double& of_block : best) {
      double const begin = now();
      for (int i = 0; i < per_block; ++i, at += features) step(std::span{at, std::size_t{features}});
      of_block = std::min(of_block, (now() - begin) / per_block * 1e9);
    }
  }
  return *std::max_element(best.begin(), best.end());
}

/// Prints one line: the time of a step for noise, and for each decaying signal the multiple of that time.
template <class Step, class Reset>
void compare(char const* layer, char const* code, Step step, Reset reset) {
  Signal const usual = signal([random = noise(blocks * per_block * features, 3, 1)](std::size_t t, std::size_t k) {
    return random[t * features + k];
  });
  auto const decaying = [&](double a_step, std::size_t from) {
    return signal([&, a_step, from](std::size_t t, std::size_t k) {
      double const factor = t < from ? 1 : std::pow(a_step, static_cast<double>(t - from));
      return static_cast<float>(static_cast<double>(usual[t * features + k]) * factor);
    });
  };
  double const of_usual = slowest(usual, step, reset);
  std::printf("%s\t%s\t%.1f", layer, code, of_usual);
  for (Signal const& x : {decaying(0.85, 64), decaying(0, 64), signal([](auto...) { return 1e-39f; })})
    std::printf("\t%.2f", slowest(x, step, reset) / of_usual);
  std::printf("\n");
  std::fflush(stdout);
}

template <class Net>
void compare_all(char const* layer) {
  constexpr Shape in{features};
  auto const typed = std::make_unique<Network<Net, in, Batch<1>>>(7);
  compare(
      layer, "typed", [&](std::span<float const> x) { keep(typed->step(x).data()); }, [&] { typed->reset(); });
  for (char const* const level : {"cpu:v2", "cpu:v3", "cpu:v4"}) {
    auto const backend = [&]() -> std::unique_ptr<dynamic::Backend> {
      try {
        return std::make_unique<dynamic::Backend>(level);
      } catch (UnsupportedError const&) {  // this machine does not have the instructions
        return nullptr;
      }
    }();
    if (!backend) continue;
    auto net = dynamic::Layer::from_config(*backend, dynamic::to_config<Net, in>(), {}, 7);
    net.set_mode(dynamic::Mode::inference);
    compare(
        layer, level, [&](std::span<float const> x) { keep(net.step(x).data()); }, [&] { net.reset(); });
  }
}

/// Prints the microseconds of a call of a stream in blocks for noise, and how many times as long the slowest call takes
/// in the silence after it, until the network knows nothing else. Each call counts with the fastest of many repeats.
template <class W>
void compare_blocks(dynamic::Stream stream) {
  constexpr int sound = 64, silence = 16384 / static_cast<int>(W::block);
  std::vector<float> const x = noise(sound * W::block, 7, 0.5f), nothing(W::block);
  std::vector<float> y(W::block);
  std::vector<double> best(sound + silence, std::numeric_limits<double>::infinity());
  stream.warm_up();
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (int call = 0; call < sound + silence; ++call) {
      std::span<float const> const given =
          call < sound ? std::span{x}.subspan(static_cast<std::size_t>(call * W::block), W::block) : std::span{nothing};
      double const begin = now();
      stream.process(given, y);
      keep(y.data());
      double& least = best[static_cast<std::size_t>(call)];
      least = std::min(least, (now() - begin) * 1e6);
    }
  }
  double const of_sound = *std::max_element(best.begin(), best.begin() + sound);
  std::printf("%s\tcpu\t%.3g\t%.2f\n", W::id, of_sound, *std::max_element(best.begin() + sound, best.end()) / of_sound);
  std::fflush(stdout);
}
template <class... Ws>
void compare_streams(TypeList<Ws...>) {
  auto const compare = [&]<class W>() {
    auto net = dynamic::Layer::from_config(dynamic::Backend{"cpu"}, dynamic::to_config<typename W::Net, W::shape>());
    net.set_mode(dynamic::Mode::inference);
    compare_blocks<W>(dynamic::Stream{net, W::block});
  };
  (compare.template operator()<Ws>(), ...);
}

}  // namespace

void print_denormals() {
  std::printf("layer\tcode\tns a step\tdecays\tsilence\t1e-39\n");
  compare_all<Recurrent<RnnType::lstm>>("lstm 32");
  compare_all<Recurrent<RnnType::gru>>("gru 32");
  compare_all<Recurrent<RnnType::tanh>>("tanh 32");
  compare_all<Recurrent<RnnType::relu>>("relu 32");
  compare_all<Sequential<Convolution{.num_output = 16, .filter_shape = 15, .dilation = 4}>>("convolution 16, 15 taps");
  compare_all<Filtered<TanH{}>>("convolution 16, 3 taps, tanh");
  compare_all<Filtered<Sigmoid{}>>("convolution 16, 3 taps, sigmoid");
  compare_all<Filtered<ELU{}>>("convolution 16, 3 taps, elu");
  compare_all<Filtered<SiLU{}>>("convolution 16, 3 taps, silu");
  compare_all<Filtered<GELU{}>>("convolution 16, 3 taps, gelu");
  compare_all<Filtered<Softplus{}>>("convolution 16, 3 taps, softplus");
  compare_all<Sequential<Linear{64}, TanH{}, Linear{64}, ReLU{}, Linear{6}>>("dense 64, 64, 6");
  std::printf("stream in blocks\tcode\tus a call\tsilence\n");
  compare_streams(Blocks{});
}

}  // namespace bench
