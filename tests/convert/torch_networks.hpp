// The networks of torch_weights.py as configs, and the files that it wrote.
#pragma once

#include "convert/built.hpp"
#include "convert/outputs.hpp"
#include "data/files.hpp"

#include <coldpress/convert/npz.hpp>
#include <coldpress/convert/safetensors.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/persist/network.hpp>

namespace torch_test {

using namespace coldpress;
using namespace coldpress::convert;

using convert_test::in_source;
inline std::string file(std::string const& name) { return in_source("torch/" + name); }

inline bool has_safetensors() {
  return convert_test::built_with("nlohmann-json", [] {
    static_cast<void>(read_safetensors("missing", {"", dynamic::SequentialConfig{}}));
  });
}

inline dynamic::LayerConfig images() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{2, 6, 6})
      .add_layer({"features.0", Convolution{.num_output = 4, .filter_shape = 3, .padding = 1}})
      .add_layer({"features.1", BatchNormalization{}})
      .add_layer({"features.2", PReLU{.num_parameters = 4}})
      .add_layer({"pool", Pooling{.filter_shape = 2, .stride = 2}})
      .add_layer({"features.4", Convolution{.num_output = 6, .filter_shape = 2, .groups = 2, .has_bias = false}})
      .add_layer({"norm", GroupNormalization{.groups = 3}})
      .add_layer({"up",
                  ConvolutionTranspose{
                      .num_output = 4, .filter_shape = 3, .stride = 2, .padding = 1, .output_padding = 1, .groups = 2}})
      .add_layer({"classifier", Linear{.output_size = 3}});
  return {"images", layers};
}

inline dynamic::LayerConfig volumes() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{2, 4, 6, 6})
      .add_layer({"layers.0", Convolution{.num_output = 4, .filter_shape = {2, 3, 3}, .padding = {0, 1, 1}}})
      .add_layer({"layers.1", BatchNormalization{}})
      .add_layer({"layers.2", ReLU{}})
      .add_layer({"layers.3", Pooling{.filter_shape = {1, 2, 2}, .stride = {1, 2, 2}}})
      .add_layer({"layers.4", Convolution{.num_output = 6, .filter_shape = {3, 1, 2}, .groups = 2, .has_bias = false}})
      .add_layer({"layers.5", ConvolutionTranspose{.num_output = 2, .filter_shape = 2, .stride = {2, 1, 1}}});
  return {"volumes", layers};
}

inline dynamic::LayerConfig sequences() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{7, 2})
      .add_layer({"conv", Convolution{.num_output = 3, .filter_shape = 2, .dilation = 2}})
      .add_layer({"lstm", Rnn{.hidden_size = 4, .num_layers = 2, .direction_mode = DirectionMode::bi_directional}})
      .add_layer({"gru", Rnn{.hidden_size = 5, .num_layers = 2, .rnn_type = RnnType::gru}})
      .add_layer({"rnn", Rnn{.hidden_size = 3, .rnn_type = RnnType::relu}})
      .add_layer({"head", Linear{.output_size = 2, .last_axis = true}});
  return {"sequences", layers};
}

inline dynamic::LayerConfig block() {
  dynamic::SequentialConfig layers;
  auto const add = [&](std::string name, dynamic::LayerType layer, std::vector<std::string> inputs) {
    dynamic::LayerConfig one{name, std::move(layer)};
    one.inputs = std::move(inputs), one.outputs = {name};
    layers.add_layer(std::move(one));
  };
  layers.add_input("words-in", Shape{5});
  add("words", Embedding{.vocabulary = 9, .features = 6}, {"words-in"});
  add("positions", LearnedPositions{.most = 8}, {"words"});
  add("norm", LayerNormalization{}, {"positions"});
  add("attention.in_proj", Linear{.output_size = 18, .last_axis = true}, {"norm"});
  add("attention", ScaledDotProductAttention{.heads = 2}, {"attention.in_proj"});
  add("attention.out_proj", Linear{.output_size = 6, .last_axis = true}, {"attention"});
  add("sum", Add{}, {"positions", "attention.out_proj"});
  add("mlp.0", RMSNormalization{.epsilon = 1e-5f}, {"sum"});
  add("mlp.1", Linear{.output_size = 10, .last_axis = true}, {"mlp.0"});
  add("mlp.2", GELU{}, {"mlp.1"});
  add("mlp.3", Linear{.output_size = 6, .last_axis = true}, {"mlp.2"});
  add("y", Add{}, {"sum", "mlp.3"});
  return {"block", layers};
}

/// The largest difference from PyTorch's outputs, as a fraction of the largest of them.
inline double difference(persist::Model const& model, std::string const& name) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  auto const y = layer.predict(data::read_npy(file(name + ".x.npy")).values);
  return convert_test::difference(y, data::read_npy(file(name + ".y.npy")).values);
}

inline std::vector<float> values_of(persist::Model const& model, std::string const& name) {
  for (auto const& tensor : model.weights) {
    if (tensor.name == name) return tensor.values;
  }
  FAIL("there is no weight " << name);
  return {};
}

}  // namespace torch_test
