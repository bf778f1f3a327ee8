// The workloads, each with its network, sample shape, loss and batch size. All paths run these.
#pragma once

#include "timing.hpp"

#include <coldpress/amp.hpp>
#include <coldpress/coldpress.hpp>

#include <cmath>
#include <type_traits>

namespace bench {

using namespace coldpress;

inline constexpr Sgd optimizer{.learning_rate = 1e-3f, .momentum = 0.9f};

// Fully connected networks.
struct T1 {
  static constexpr char const* id = "T1";
  using Net = Sequential<Linear{128}, ReLU{}, Linear{10}, LogSoftmax{}>;
  static constexpr Shape shape{784};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 64;
};
struct T2 {
  static constexpr char const* id = "T2";
  using Net = Sequential<Linear{512}, ReLU{}, Linear{512}, ReLU{}, Linear{10}, LogSoftmax{}>;
  static constexpr Shape shape{784};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 128;
};
struct T4 {
  static constexpr char const* id = "T4";
  using Net = Sequential<Linear{64}, TanH{}, Linear{64}, TanH{}, Linear{6}>;
  static constexpr Shape shape{17};
  static constexpr MeanSquaredError loss{};
  static constexpr Index batch = 256;
};
struct I1 {
  static constexpr char const* id = "I1";
  using Net = Sequential<Linear{128}, ReLU{}, Linear{10}>;
  static constexpr Shape shape{784};
  static constexpr Index batch = 1;
};
struct I6 : I1 {
  static constexpr char const* id = "I6";
  static constexpr Index batch = 64;
};
struct I2 {
  static constexpr char const* id = "I2";
  using Net = T4::Net;
  static constexpr Shape shape{17};
  static constexpr Index batch = 1;
};
using Dense = TypeList<T1, T2, T4, I1, I2, I6>;

// Networks for images: Caffe's LeNet, and its cifar10_quick, whose pooling rounds up.
template <auto... last>
using Lenet = Sequential<Convolution{.num_output = 20, .filter_shape = 5}, Pooling{.filter_shape = 2, .stride = 2},
                         Convolution{.num_output = 50, .filter_shape = 5}, Pooling{.filter_shape = 2, .stride = 2},
                         Linear{500}, ReLU{}, Linear{10}, last...>;
constexpr Convolution same_size(Index num_output) {
  return {.num_output = num_output, .filter_shape = 5, .padding = 2};
}
constexpr Pooling overlapping(PoolingMode mode) {
  return {.mode = mode, .filter_shape = 3, .stride = 2, .rounding = Rounding::ceil};
}
struct T3 {
  static constexpr char const* id = "T3";
  using Net = Lenet<LogSoftmax{}>;
  static constexpr Shape shape{1, 28, 28};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 64;
};
struct T6 {
  static constexpr char const* id = "T6";
  using Net = Sequential<same_size(32), overlapping(PoolingMode::max), ReLU{}, same_size(32), ReLU{},
                         overlapping(PoolingMode::average), same_size(64), ReLU{}, overlapping(PoolingMode::average),
                         Linear{64}, Linear{10}, LogSoftmax{}>;
  static constexpr Shape shape{3, 32, 32};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 100;
};
struct I4 {
  static constexpr char const* id = "I4";
  using Net = Lenet<>;
  static constexpr Shape shape{1, 28, 28};
  static constexpr Index batch = 1;
};
using Images = TypeList<T3, T6, I4>;

// Networks for sequences: whole sequences, and streams of one sample per call.
struct T5 {
  static constexpr char const* id = "T5";
  using Net = Sequential<Rnn{.hidden_size = 32, .output = RnnOutput::last_step}, Linear{1}>;
  static constexpr Shape shape{10, 1};
  static constexpr MeanSquaredError loss{};
  static constexpr Index batch = 40;
};
template <Index hidden>
struct Stream {
  using Net = Sequential<Rnn{.hidden_size = hidden, .output = RnnOutput::last_step}, Linear{1}>;
  static constexpr Shape shape{1};
  static constexpr Index batch = 1;
  static constexpr bool streams = true;
};
struct I3h8 : Stream<8> {
  static constexpr char const* id = "I3h8";
};
struct I3h16 : Stream<16> {
  static constexpr char const* id = "I3h16";
};
struct I3h32 : Stream<32> {
  static constexpr char const* id = "I3h32";
};
struct I5conv : Stream<0> {
  static constexpr char const* id = "I5conv";
  using Net = Sequential<Convolution{.num_output = 16, .filter_shape = 15, .dilation = 4}>;
  static constexpr Shape shape{16};
};
struct I5full : Stream<0> {
  static constexpr char const* id = "I5full";
  using Net = Sequential<Linear{8}, TanH{}, Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}, TanH{},
                         Rnn{.hidden_size = 8, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{1}>;
};
using Sequences = TypeList<T5, I3h8, I3h16, I3h32, I5conv, I5full>;

// Models of amplifiers, which are trained on segments of sound after a run-in that does not count.
struct N9 {
  static constexpr char const* id = "N9";
  using Net = Sequential<Graph<amp::a1_standard>{}, Slice{.begin = amp::a1_standard_run_in}>;
  static constexpr Shape shape{amp::a1_standard_run_in + 8192, 1};
  static constexpr MeanSquaredError loss{.loss_average = Average::values};
  static constexpr Adam optimizer{.learning_rate = 0.004f};
  static constexpr SolverOptions solver_options{.microbatch = 1};
  static constexpr Index batch = 16;
};
using Amplifiers = TypeList<N9>;

// The same and others as streams, which are given `block` samples per call.
template <auto const& net, Index samples>
struct Played {
  using Net = Graph<net>;
  static constexpr Shape shape{1};
  static constexpr Index batch = 1, block = samples;
};
inline constexpr auto lstm_16 = graph(
    [](auto signal) { return signal | Rnn{.hidden_size = 16} | Convolution{.num_output = 1, .filter_shape = 1}; });
inline constexpr auto two_lstm_8 = graph([](auto signal) {
  return signal | Rnn{.hidden_size = 8, .num_layers = 2} | Convolution{.num_output = 1, .filter_shape = 1};
});
struct N1 : Played<amp::a1_standard, 64> {
  static constexpr char const* id = "N1";
};
struct N2 : Played<amp::a2_full, 64> {
  static constexpr char const* id = "N2";
};
struct N3 : Played<amp::a2_lite, 64> {
  static constexpr char const* id = "N3";
};
struct N4 : Played<amp::a1_nano, 64> {
  static constexpr char const* id = "N4";
};
struct N5 : Played<lstm_16, 64> {
  static constexpr char const* id = "N5";
};
struct N6 : Played<two_lstm_8, 64> {
  static constexpr char const* id = "N6";
};
struct N7 : Played<amp::a1_standard, 16> {
  static constexpr char const* id = "N7";
};
struct N8 : Played<amp::a1_standard, 1> {
  static constexpr char const* id = "N8";
};
using Blocks = TypeList<N1, N2, N3, N4, N5, N6, N7, N8>;

/// Times a stream on a second of noise that swells.
template <class W>
void time_blocks(Options const& options, auto& stream) {
  constexpr std::size_t block = W::block;
  std::vector<float> x = noise(49152, 7, 0.5f), y(block);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 0.5f + 0.5f * std::sin(static_cast<float>(i) * 1e-3f);
  stream.warm_up();
  std::size_t at = 0;
  report(options, W::id, [&] {
    stream.process({x.data() + at, block}, y);
    keep(y.data());
    at = (at + block) % x.size();
  });
}

template <class W>
concept Trains = requires {
  W::loss;
};
template <class W>
concept Streams = requires {
  W::streams;
};

template <class W>
constexpr auto optimizer_of() {
  if constexpr (requires { W::optimizer; }) {
    return W::optimizer;
  } else {
    return optimizer;
  }
}

template <class W>
constexpr SolverOptions solver_options_of() {
  if constexpr (requires { W::solver_options; }) {
    return W::solver_options;
  } else {
    return {};
  }
}

template <class W>
std::vector<float> inputs() {
  auto values = noise(static_cast<std::size_t>(W::batch * W::shape.size()), 3, 1);
  if constexpr (requires { W::vocabulary; }) {  // numbers of words
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % W::vocabulary);
  }
  return values;
}
template <class W>
std::vector<float> targets(Index size) {
  std::vector<float> values(static_cast<std::size_t>(W::batch * size), 0.3f);
  if constexpr (decltype(W::loss)::target == Target::label) {
    std::size_t classes;
    if constexpr (requires { W::loss.num_classes; }) {
      classes = static_cast<std::size_t>(W::loss.num_classes);
    } else {
      classes = static_cast<std::size_t>(W::vocabulary);
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % classes);
  }
  return values;
}

/// Calls run.template operator()<W>() for each workload of a list that was asked for, by an ID or several with commas.
template <class List, class Run>
void run_each(Options const& options, Run run) {
  for_each_type(List{}, [&]<class W>() {
    std::string const all = "," + options.workload + ",", own = std::string{","} + W::id + ",";
    if (options.workload.empty() || all.find(own) != std::string::npos) run.template operator()<W>();
  });
}

/// Takes warm-up steps, which show that the loss falls, and then times steps. Reading a loss as a number waits for its
/// step.
template <class W, class Step>
void time_training(Options const& options, Step step) {
  double const first = static_cast<double>(step());
  double last = first;
  for (int i = 0; i < 20; ++i) last = static_cast<double>(step());
  report_loss(W::id, first, last);
  if constexpr (!std::is_arithmetic_v<decltype(step())>) {
    if (options.on_gpu()) {
      auto loss = step();
      return report_gpu(
          options, W::id, [&] { loss = step(); }, [&] { last = static_cast<double>(loss); });
    }
  }
  report(options, W::id, step);
}

}  // namespace bench
