// The small LeNet of lenet.py, its weights and the outputs that numpy computes.
#pragma once

#include "data/files.hpp"

#include <coldpress/convert/weights.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/persist/network.hpp>

namespace coldpress::convert {

/// Number i of the array with this number; a multiple of 1/64.
inline std::vector<float> pattern(Index number, Index size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>((i * 37 + 11 * number) % 101 - 50) / 64;
  return values;
}

inline dynamic::LayerConfig lenet() {
  Pooling const pooling{.filter_shape = 2, .stride = 2, .rounding = Rounding::ceil};
  dynamic::SequentialConfig layers;
  layers.add_input("data", Shape{2, 6, 9})
      .add_layer({"conv1", Convolution{.num_output = 3, .filter_shape = {2, 3}}})
      .add_layer({"pool1", pooling})
      .add_layer({"ip1", Linear{.output_size = 5}})
      .add_layer({"relu1", ReLU{}})
      .add_layer({"ip2", Linear{.output_size = 2}});
  return {"lenet", layers};
}

/// What lenet.py --print prints: two values for each of two images.
inline std::vector<float> const lenet_outputs{-0.174455822f, 0.126372218f, 2.0866949f, 1.56224269f};

inline void check_lenet(persist::Model const& model) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  auto const images = pattern(9, 2 * 2 * 6 * 9);
  auto const y = layer.predict(images);
  REQUIRE(y.size() == lenet_outputs.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(lenet_outputs[i]).margin(1e-5));
}

/// The values of a weight.
inline std::vector<float> weight(persist::Model const& model, std::string const& name) {
  for (auto const& tensor : model.weights) {
    if (tensor.name == name) return tensor.values;
  }
  FAIL("there is no weight " << name);
  return {};
}

}  // namespace coldpress::convert
