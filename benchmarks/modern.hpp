// Workloads as people bring them today: a transformer, a GPT, residual networks with batch normalisation, a GRU, a
// WaveNet, a MobileNet and a large perceptron.
#pragma once

#include "workloads.hpp"

namespace bench {

template <class Value>
constexpr auto normalized(Value x, Index channels, Index filter, Index stride) {
  return x |
         Convolution{.num_output = channels,
                     .filter_shape = filter,
                     .stride = stride,
                     .padding = filter / 2,
                     .has_bias = false} |
         BatchNormalization{};
}
template <class Value>
constexpr auto normalized_residual(Value x, Index channels, Index stride) {
  auto const by = stride == 1 ? x : normalized(x, channels, 1, stride);
  return (normalized(normalized(x, channels, 3, stride) | ReLU{}, channels, 3, 1) + by) | ReLU{};
}

inline constexpr auto encoder = graph([](auto tokens) {
  auto x = tokens | Embedding{.vocabulary = 64, .features = 64};
  for (int block = 0; block < 2; ++block) x = blocks::transformer(x, 4, 256);
  return x | LayerNormalization{} | Linear{10} | LogSoftmax{};
});
template <Index steps>
inline constexpr auto gpt = graph([](auto tokens) {
  auto x = tokens | Embedding{.vocabulary = 256, .features = 128} | LearnedPositions{.most = steps};
  for (int block = 0; block < 4; ++block) x = blocks::transformer(x, {.heads = 4, .causal = true, .window = 128}, 512);
  return x | LayerNormalization{} | Convolution{.num_output = 256, .filter_shape = 1, .has_bias = false};
});
inline constexpr auto resnet_20 = graph([](auto image) {
  auto x = normalized(image, 16, 3, 1) | ReLU{};
  for (Index stage = 0; stage < 3; ++stage) {
    for (Index i = 0; i < 3; ++i) x = normalized_residual(x, Index{16} << stage, stage > 0 && i == 0 ? 2 : 1);
  }
  return x | GlobalAveragePooling{} | Linear{10};
});
inline constexpr auto classifying_resnet_20 =
    graph([](auto image) { return image | Graph<resnet_20>{} | LogSoftmax{}; });
inline constexpr auto dilated_stack = graph([](auto signal) {
  auto const by_step = [](Index channels) { return Convolution{.num_output = channels, .filter_shape = 1}; };
  auto x = signal | by_step(16);
  for (int l = 0; l < 10; ++l) {
    auto const y = x | Convolution{.num_output = 16, .filter_shape = 3, .dilation = Index{1} << l} | TanH{};
    x = x + (y | by_step(16));
  }
  return x | by_step(1);
});
inline constexpr auto mobile = graph([](auto image) {
  auto x = image | Convolution{.num_output = 16, .filter_shape = 3, .stride = 2, .padding = 1} | ReLU{};
  Index channels = 16;
  struct Stage {
    Index channels, stride;
  };
  for (Stage const stage : {Stage{32, 1}, {64, 2}, {64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}}) {
    x = x |
        Convolution{
            .num_output = channels, .filter_shape = 3, .stride = stage.stride, .padding = 1, .groups = channels} |
        ReLU{} | Convolution{.num_output = stage.channels, .filter_shape = 1} | ReLU{};
    channels = stage.channels;
  }
  return x | GlobalAveragePooling{} | Linear{10};
});

struct M1 {
  static constexpr char const* id = "M1";
  using Net = Graph<encoder>;
  static constexpr Shape shape{32};
  static constexpr Index batch = 32, vocabulary = 64;
  static constexpr NegativeLogLikelihood loss{10};
};
struct M2 {
  static constexpr char const* id = "M2";
  using Net = Graph<gpt<128>>;
  static constexpr Shape shape{128};
  static constexpr Index batch = 8, vocabulary = 256;
  static constexpr SoftmaxLoss loss{.axis = -1};
};
struct M3 {
  static constexpr char const* id = "M3";
  using Net = Graph<classifying_resnet_20>;
  static constexpr Shape shape{3, 32, 32};
  static constexpr Index batch = 32;
  static constexpr NegativeLogLikelihood loss{10};
};
struct M4 {
  static constexpr char const* id = "M4";
  using Net = Sequential<Rnn{.hidden_size = 128, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{1}>;
  static constexpr Shape shape{64, 32};
  static constexpr Index batch = 32;
  static constexpr MeanSquaredError loss{};
};
struct M5 {
  static constexpr char const* id = "M5";
  using Net = Graph<dilated_stack>;
  static constexpr Shape shape{2048, 1};
  static constexpr Index batch = 8;
  static constexpr MeanSquaredError loss{.loss_average = Average::values};
};
struct M6 {
  static constexpr char const* id = "M6";
  using Net = Graph<mobile>;
  static constexpr Shape shape{3, 96, 96};
  static constexpr Index batch = 1;
};
struct M7 {
  static constexpr char const* id = "M7";
  using Net = Sequential<Linear{2048}, TanH{}, Linear{2048}, TanH{}, Linear{1024}>;
  static constexpr Shape shape{1024};
  static constexpr Index batch = 256;
  static constexpr MeanSquaredError loss{.loss_average = Average::values};
};
// It reads one token after another, with a table of positions that lasts for as long as it is measured.
struct M8 {
  static constexpr char const* id = "M8";
  using Net = Graph<gpt<1 << 17>>;
  static constexpr Shape shape{1};
  static constexpr Index batch = 1, vocabulary = 256;
  static constexpr bool streams = true;
};
struct M9 {
  static constexpr char const* id = "M9";
  using Net = Graph<resnet_20>;
  static constexpr Shape shape{3, 32, 32};
  static constexpr Index batch = 1;
};
struct M10 : Played<dilated_stack, 1> {
  static constexpr char const* id = "M10";
};
using Modern = TypeList<M1, M2, M3, M4, M5, M6, M7, M8, M9, M10>;

}  // namespace bench
