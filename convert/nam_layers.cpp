// Converts the layers of a config back to the plain data of an architecture.
#include "nam_network.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <utility>

namespace coldpress::convert::nam {
namespace {

using persist::printable;

[[noreturn]] void refuse(std::string const& layer, std::string const& sentence) {
  UnsupportedError error{"is not what a .nam file can have there: " + sentence};
  error.in_layer(printable(layer));
  throw error;
}

/// The layers of a container by name.
class Found {
 public:
  Found(dynamic::SequentialConfig const& container, Weights const& weights) : weights_(weights) {
    for (auto const& layer : container.layers) by_name_.emplace(layer.name, &layer);
  }
  bool has(std::string const& name) const { return by_name_.contains(name); }
  /// The layer of that name. If it is missing or of another kind, this is found when the config is made again.
  template <class L>
  L get(std::string const& name, L otherwise = {}) const {
    auto const found = by_name_.find(name);
    L const* const layer = found == by_name_.end() ? nullptr : std::get_if<L>(&found->second->layer_type);
    return layer ? *layer : otherwise;
  }
  Index bounded(Index value) const { return std::clamp<Index>(value, 1, max_taps); }
  Convolution convolution(std::string const& name) const { return get<Convolution>(name, {.num_output = 1}); }
  Index outputs(std::string const& name) const { return bounded(convolution(name).num_output); }
  Index groups(std::string const& name) const { return bounded(convolution(name).groups); }
  Index taps(std::string const& name) const { return bounded(convolution(name).filter_shape[0]); }
  Index dilation(std::string const& name) const { return bounded(convolution(name).dilation[0]); }

  Activation activation(std::string const& name) const {
    Activation activation;
    if (auto const slopes = weights_.find(name + ".slopes-0"); slopes != weights_.end()) {
      for (float const value : slopes->second) activation.slopes.push_back(-value);
    } else if (auto const found = by_name_.find(name); found != by_name_.end()) {
      activation.layer = found->second->layer_type;
    }
    return activation;
  }

 private:
  std::map<std::string, dynamic::LayerConfig const*> by_name_;
  Weights const& weights_;
};

Network network_of(Found const& layers, std::string const& prefix, Index inputs);

Layer layer_of(Found const& layers, std::string const& name) {
  Layer layer{.taps = layers.taps(name + "conv"),
              .dilation = layers.dilation(name + "conv"),
              .activation = layers.activation(name + "activation")};
  layer.gating = layers.has(name + "gated")     ? Gating::gated
                 : layers.has(name + "blended") ? Gating::blended
                                                : Gating::none;
  if (layer.gating != Gating::none) layer.secondary = layers.activation(name + "gate");
  return layer;
}

LayerArray array_of(Found const& layers, std::string const& name, Index inputs, Index condition) {
  LayerArray array{.inputs = inputs,
                   .condition = condition,
                   .channels = layers.outputs(name + "rechannel"),
                   .head_outputs = layers.outputs(name + "head"),
                   .head_taps = layers.taps(name + "head"),
                   .head_dilation = layers.dilation(name + "head"),
                   .head_bias = layers.convolution(name + "head").has_bias,
                   .layer1x1 = {}};
  for (std::size_t l = 0;; ++l) {
    std::string const layer = name + "layer" + std::to_string(l) + ".";
    if (!layers.has(layer + "conv")) break;
    array.layers.push_back(layer_of(layers, layer));
    if (l == 0) {
      array.bottleneck =
          std::max<Index>(1, layers.outputs(layer + "conv") / (array.layers[0].gating == Gating::none ? 1 : 2));
      array.groups_input = layers.groups(layer + "conv");
      array.groups_mixin = layers.groups(layer + "input_mixin");
    }
    if (layers.has(layer + "layer1x1")) array.layer1x1 = {.active = true, .groups = layers.groups(layer + "layer1x1")};
    if (layers.has(layer + "head1x1"))
      array.head1x1 = {true, layers.outputs(layer + "head1x1"), layers.groups(layer + "head1x1")};
    for (std::size_t p = 0; p < film_names.size(); ++p) {
      std::string const film = layer + std::string{film_names[p]};
      if (layers.has(film)) array.films[p] = {true, layers.has(film + ".shift"), layers.groups(film)};
    }
  }
  // Without a layer1x1, the two sizes must be the same.
  if (array.bottleneck != array.channels) array.layer1x1.active = true;
  return array;
}

WaveNet wavenet_of(Found const& layers, std::string const& prefix, Index inputs) {
  WaveNet network{.inputs = inputs};
  Index condition = inputs;
  if (std::string const inner = prefix + "cond.";
      layers.has(inner + "head") || layers.has(inner + "head_scale") || layers.has(inner + "fir")) {
    network.condition = std::make_shared<Network>(network_of(layers, inner, inputs));
    condition = network.condition->outputs();
  }
  for (std::size_t a = 0;; ++a) {
    std::string const name = prefix + "array" + std::to_string(a) + ".";
    if (!layers.has(name + "rechannel")) break;
    network.arrays.push_back(array_of(layers, name, inputs, condition));
    inputs = network.arrays.back().channels;
  }
  // The layer1x1 of the last layer is not in a config, because nothing reads it.
  if (auto& last = network.arrays.back(); last.layers.size() == 1) last.layer1x1.active = true;
  network.head_scale = layers.get<Power>(prefix + "head_scale").scale;
  for (std::size_t i = 0;; ++i) {
    std::string const name = prefix + "head" + std::to_string(i) + ".";
    if (!layers.has(name + "conv")) break;
    if (i == 0) {
      network.head.emplace();
      network.head->activation = layers.activation(name + "activation");
      network.head->channels = layers.outputs(name + "conv");
    }
    network.head->taps.push_back(layers.taps(name + "conv"));
    network.head->outputs = layers.outputs(name + "conv");
  }
  return network;
}

Network network_of(Found const& layers, std::string const& prefix, Index inputs) {
  if (layers.has(prefix + "array0.rechannel")) return {wavenet_of(layers, prefix, inputs)};
  Index const outputs = layers.outputs(prefix + "head");
  if (layers.has(prefix + "lstm")) {
    Rnn const rnn = layers.get<Rnn>(prefix + "lstm");
    return {Lstm{inputs, outputs, layers.bounded(rnn.hidden_size), layers.bounded(rnn.num_layers)}};
  }
  if (layers.has(prefix + "fir"))
    return {Fir{layers.taps(prefix + "fir"), layers.convolution(prefix + "fir").has_bias}};
  ConvNet network{.inputs = inputs,
                  .outputs = outputs,
                  .channels = layers.outputs(prefix + "block0.conv"),
                  .groups = layers.groups(prefix + "block0.conv"),
                  .activation = layers.activation(prefix + "block0.activation")};
  for (std::size_t b = 0;; ++b) {
    std::string const conv = prefix + "block" + std::to_string(b) + ".conv";
    if (!layers.has(conv)) break;
    network.dilations.push_back(layers.dilation(conv));
  }
  return {network};
}

/// The layer without what only training reads.
dynamic::LayerType bare(dynamic::LayerType type) {
  if (auto* const convolution = std::get_if<Convolution>(&type)) convolution->weight = convolution->bias = {};
  if (auto* const rnn = std::get_if<Rnn>(&type)) {
    rnn->weight = {}, rnn->dropout_probability = 0, rnn->dropout_seed = 0, rnn->truncation = 0;
  }
  return type;
}

std::string text(std::vector<std::string> const& names) {
  std::string all;
  for (std::string const& name : names) all += (all.empty() ? "'" : ", '") + printable(name) + "'";
  return all.empty() ? "none" : all;
}

void compare(dynamic::LayerConfig const& layer, dynamic::LayerConfig const& expected) {
  if (layer.name != expected.name) {
    refuse(layer.name, "expected layer '" + expected.name + "' (" + dynamic::type_name(expected.layer_type) + ")");
  }
  if (layer.layer_type.index() != expected.layer_type.index()) {
    refuse(layer.name,
           "it is " + dynamic::type_name(layer.layer_type) + ", expected " + dynamic::type_name(expected.layer_type));
  }
  if (!(bare(layer.layer_type) == bare(expected.layer_type)))
    refuse(layer.name, "its fields do not fit the layers around it");
  if (layer.inputs != expected.inputs)
    refuse(layer.name, "it reads " + text(layer.inputs) + ", expected " + text(expected.inputs));
  if (layer.outputs != expected.outputs)
    refuse(layer.name, "its outputs are " + text(layer.outputs) + ", expected " + text(expected.outputs));
}

}  // namespace

Network to_network(dynamic::LayerConfig const& config, Weights const& weights) {
  auto const* const container = std::get_if<dynamic::SequentialConfig>(&config.layer_type);
  if (!container) refuse(config.name, "expected a container with the layers of a whole network");
  if (container->inputs.size() != 1 || container->inputs[0].shape.rank() < 1 || container->inputs[0].shape.rank() > 2)
    refuse(config.name, "expected one input of the shape {channels} or {steps, channels}");
  if (container->layers.empty()) refuse(config.name, "it has no layers");
  Shape const& shape = container->inputs[0].shape;
  Network network = network_of(Found{*container, weights}, "", shape.last());
  if (auto const* const wavenet = std::get_if<WaveNet>(&network.kind)) {
    for (std::size_t a = 0; a < wavenet->arrays.size(); ++a) {
      if (wavenet->arrays[a].layers.empty())
        refuse("array" + std::to_string(a) + ".rechannel", "no layer comes after it");
    }
  }
  auto const* const convnet = std::get_if<ConvNet>(&network.kind);
  if (convnet && convnet->dilations.empty()) {
    refuse(container->layers[0].name,
           "expected 'array0.rechannel', 'lstm', 'block0.conv' or 'fir', as read_nam names them");
  }
  Weights slopes;
  auto const again = to_config(network, shape, slopes, container->inputs[0].name);
  auto const& expected = std::get<dynamic::SequentialConfig>(again.layer_type).layers;
  for (std::size_t i = 0; i < container->layers.size(); ++i) {
    if (i >= expected.size()) refuse(container->layers[i].name, "the network is complete without it");
    compare(container->layers[i], expected[i]);
  }
  if (container->layers.size() < expected.size())
    refuse(container->layers.back().name, "layer '" + expected[container->layers.size()].name + "' must come after it");
  return network;
}

}  // namespace coldpress::convert::nam
