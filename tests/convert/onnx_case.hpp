// A network of one layer as an example of it.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace onnx_cases {

using namespace coldpress;

struct Input {
  Shape shape;
  Index numbers = 0;  // its values are whole numbers below it; 0: any
};
/// A network of one layer, or of several.
struct Case {
  std::string name;
  std::string layer;  // the kind of it
  dynamic::LayerConfig config;
  std::vector<Input> inputs;
  std::string why_not = {};  // what read_onnx says of the model, if it does not read it
};

inline dynamic::LayerConfig network(std::string name, std::vector<Input> const& inputs,
                                    std::vector<dynamic::LayerConfig> layers) {
  dynamic::SequentialConfig container;
  for (std::size_t k = 0; k < inputs.size(); ++k) container.add_input("x" + std::to_string(k), inputs[k].shape);
  for (auto& layer : layers) container.add_layer(std::move(layer));
  return {std::move(name), std::move(container)};
}

/// A layer of all inputs.
template <class L>
Case one(std::string const& form, L const& layer, std::vector<Input> const& inputs, std::string why_not = {}) {
  std::string const kind{L::name}, name = form.empty() ? kind : kind + "." + form;
  dynamic::LayerConfig config{kind + "1", layer};
  for (std::size_t k = 0; k < inputs.size(); ++k) config.inputs.push_back("x" + std::to_string(k));
  return {name, kind, network(name, inputs, {config}), inputs, std::move(why_not)};
}

}  // namespace onnx_cases
