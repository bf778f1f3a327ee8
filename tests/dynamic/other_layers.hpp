// Networks of the layers that random networks do not have, from 6 values to 2, for comparisons of backends.
#pragma once

#include "dynamic/random_case.hpp"

#include <coldpress/dynamic/describe.hpp>

namespace coldpress::test {

/// Samples {3, 4} for layers in a row.
inline LayerConfig chain(std::vector<LayerConfig> layers, Shape const& shape = {3, 4}) {
  layers.insert(layers.begin(), {{"first", Linear{shape.size()}}, {"shape", Reshape{shape}}});
  layers.push_back({"last", Linear{2}});
  return sequential(std::move(layers), Shape{6});
}

/// Samples of several layers for one that joins them.
inline LayerConfig join(dynamic::LayerType layer, std::vector<Shape> const& shapes) {
  SequentialConfig graph;
  graph.add_input("data", {6});
  std::vector<std::string> joined;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    std::string const number = std::to_string(k);
    graph.add_layer(wired({"first-" + number, Linear{shapes[k].size()}}, {"data"}, {"first-" + number}));
    graph.add_layer(wired({"shape-" + number, Reshape{shapes[k]}}, {"first-" + number}, {"x-" + number}));
    joined.push_back("x-" + number);
  }
  graph.add_layer(wired({"join", std::move(layer)}, joined, {"joined"}));
  graph.add_layer(wired({"last", Linear{2}}, {"joined"}, {"y"}));
  return {"network", graph};
}

/// A network of layers that name their inputs: those that f(add) adds, and one that reads `end`.
template <class F>
LayerConfig named(std::string const& end, F f) {
  SequentialConfig graph;
  graph.add_input("data", {6});
  auto const add = [&](std::string const& name, dynamic::LayerType layer, std::vector<std::string> inputs) {
    graph.add_layer(wired({name, std::move(layer)}, std::move(inputs), {name}));
  };
  f(add);
  add("last", Linear{2}, {end});
  return {"network", graph};
}

/// The steps of a sample that are the largest in the first of three features.
inline LayerConfig gathered() {
  return named("gathered", [](auto const& add) {
    add("first", Linear{12}, {"data"}), add("matrix", Reshape{{4, 3}}, {"first"});
    add("places", Argmax{.axis = 0}, {"matrix"}), add("flat", Flatten{}, {"places"});
    add("gathered", Gather{}, {"matrix", "flat"});
  });
}

/// Sequences of about two steps of three, in both directions.
inline LayerConfig counted_steps() {
  return named("rnn", [](auto const& add) {
    add("first", Linear{12}, {"data"}), add("steps", Reshape{{3, 4}}, {"first"});
    add("number", Linear{1}, {"data"}), add("lengths", Power{.shift = 2.3f}, {"number"});
    add("rnn", Rnn{.hidden_size = 5, .num_layers = 2, .direction_mode = DirectionMode::bi_directional},
        {"steps", "lengths"});
  });
}

/// A GRU that starts from the last h of an LSTM.
inline LayerConfig encoder_and_decoder() {
  return named("decoder", [](auto const& add) {
    constexpr auto both = DirectionMode::bi_directional;
    add("first", Linear{12}, {"data"}), add("steps", Reshape{{3, 4}}, {"first"});
    add("encoder", Rnn{.hidden_size = 5, .num_layers = 2, .direction_mode = both, .output = RnnOutput::layers},
        {"steps"});
    add("decoder",
        Rnn{.hidden_size = 5, .num_layers = 2, .rnn_type = RnnType::gru, .direction_mode = both, .initial_state = true},
        {"steps", "encoder"});
  });
}

/// An LSTM that goes on from the last h and c of another.
inline LayerConfig encoder_and_decoder_of_cells() {
  return named("decoder", [](auto const& add) {
    constexpr auto both = DirectionMode::bi_directional;
    add("first", Linear{12}, {"data"}), add("steps", Reshape{{3, 4}}, {"first"});
    add("encoder", Rnn{.hidden_size = 5, .direction_mode = both, .output = RnnOutput::sequence_and_state}, {"steps"});
    add("last h", Slice{.begin = 3, .end = 4}, {"encoder"}), add("h", Reshape{{10}}, {"last h"});
    add("last c", Slice{.begin = 4}, {"encoder"}), add("c", Reshape{{10}}, {"last c"});
    add("decoder", Rnn{.hidden_size = 5, .direction_mode = both, .initial_state = true}, {"steps", "h", "c"});
  });
}

inline std::vector<LayerConfig> networks_of_other_layers() {
  return {
      chain({{"most", Argmax{.axis = -1}}, {"words", Embedding{.vocabulary = 4, .features = 5}}}),
      chain({{"most", Argmax{.axis = -1}}, {"places", Onehot{.num_classes = 4, .axis = 1}}}),
      chain({{"sum", Reduce{.axis = 0}}}),
      chain({{"mean", GlobalAveragePooling{}}}),
      chain({{"turned", Permute{{1, 0}}}, {"mask", RandomMask{.probability = 0.3f}}, {"tied", TiedLinear{7}}}),
      chain({{"elu", ELU{}}, {"leaky", LeakyReLU{}}, {"silu", SiLU{}}, {"softplus", Softplus{}}}),
      chain({{"power", Power{}}, {"identity", Identity{}}, {"e", Exponential{}}, {"threshold", Threshold{}}}),
      chain({{"slopes", PReLU{.num_parameters = 3}}, {"glu", Glu{}}, {"slope", PReLU{}}}),
      chain({{"mish", Mish{}}, {"soft", Softsign{}}, {"log", LogSigmoid{}}, {"clip", Clip{-2, -0.5f}}}),
      chain({{"swish", HardSwish{}}, {"sigmoid", HardSigmoid{}}, {"tanh", HardTanh{}}, {"leaky", LeakyHardTanh{}}}),
      chain({{"rms", RMSNormalization{}}, {"groups", GroupNormalization{.groups = 2}}}, {4, 3, 2}),
      chain(
          {{"learned", LearnedPositions{.most = 5}}, {"sines", SinusoidalPositions{}}, {"rotary", RotaryPositions{}}}),
      chain({{"steps", Linear{.output_size = 24, .last_axis = true}},
             {"attention", ScaledDotProductAttention{.heads = 2, .causal = true}}}),
      chain({{"largest", TopK{.k = 2, .axis = -1}}, {"padding", Pad{.axis = 0, .before = {1, 2}, .after = 1}}}),
      chain({{"more", Expand{{2, 3, 4}}}, {"twice", Resize{.mode = ResizeMode::linear, .factor = 2}}}),
      chain({{"steps", ConvolutionTranspose{.num_output = 3, .filter_shape = 3, .stride = 2}}}),
      chain({{"planes", ConvolutionTranspose{.num_output = 4, .filter_shape = {2, 3}, .stride = 2, .groups = 2}},
             {"near", Resize{.size = 3}}},
            {2, 3, 4}),
      join(MatMul{}, {{3, 4}, {4, 5}}),
      join(Max{}, {{3, 4}, {3, 4}}),
      join(Min{}, {{3, 4}, {3, 4}}),
      join(Where{}, {{3, 4}, {3, 4}, {3, 4}}),
      join(ScaledDotProductAttention{.heads = 2, .kv_heads = 1}, {{3, 4}, {5, 2}, {5, 3}, {1, 5}}),
      counted_steps(),
      encoder_and_decoder(),
      encoder_and_decoder_of_cells(),
      gathered(),
  };
}

/// The weights after three steps of training.
inline Floats trained_weights(LayerConfig const& network, std::string const& backend) {
  SolverConfig config{.base_lr = 0.01f};
  config.objective = LayerConfig{"loss", MeanSquaredError{}};
  Trainer solver{Net::from_config(Backend{backend}, network, {}, 11), config};
  for (std::uint64_t step = 0; step < 3; ++step) solver.train_minibatch(noise({7, 6}, step), noise({7, 2}, step + 9));
  return weights_of(solver.network());
}
/// Training those networks gives what it gives on the reference.
inline void check_networks_of_other_layers(std::string const& backend) {
  for (LayerConfig const& network : networks_of_other_layers()) {
    INFO(dynamic::describe(network));
    CHECK(excess_of(trained_weights(network, backend), trained_weights(network, "cpu:reference"), 400) <= 1);
  }
}

}  // namespace coldpress::test
