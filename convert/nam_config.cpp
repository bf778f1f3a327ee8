// Converts the plain data of an architecture to the layers of a config.
#include "nam_network.hpp"

#include <string>
#include <utility>

namespace coldpress::convert::nam {
namespace {

Convolution convolution(Index outputs, Index taps, Index dilation, Index groups, bool bias) {
  return {.num_output = outputs, .filter_shape = taps, .dilation = dilation, .groups = groups, .has_bias = bias};
}
Convolution one_by_one(Index outputs, Index groups, bool bias) { return convolution(outputs, 1, 1, groups, bias); }

/// Appends layers to a container. A value has the name of the layer that computes it.
class Layers {
 public:
  Layers(dynamic::SequentialConfig& container, Weights& slopes) : container_(container), slopes_(slopes) {}

  std::string add(std::string const& name, dynamic::LayerType layer, std::vector<std::string> inputs) {
    dynamic::LayerConfig config{name, std::move(layer)};
    config.inputs = std::move(inputs);
    config.outputs = {name};
    container_.add_layer(std::move(config));
    return name;
  }

  std::string activation(std::string const& name, Activation const& activation, std::string const& x) {
    if (activation.slopes.empty()) return add(name, activation.layer, {x});
    // relu(x) - slope relu(-x), with a convolution that has one weight for each channel.
    auto const channels = static_cast<Index>(activation.slopes.size());
    std::string const positive = add(name + ".positive", ReLU{}, {x});
    std::string const minus = add(name + ".minus", Power{.scale = -1}, {x});
    std::string const negative = add(name + ".negative", ReLU{}, {minus});
    std::string const scaled = add(name + ".slopes", one_by_one(channels, channels, false), {negative});
    auto& values = slopes_[name + ".slopes-0"];
    values.clear();
    for (float const slope : activation.slopes) values.push_back(-slope);
    return add(name, Add{}, {positive, scaled});
  }

  std::string film(std::string const& name, Film const& film, Index dimension, std::string const& x,
                   std::string const& condition) {
    if (!film.active) return x;
    std::string const made = add(name, one_by_one((film.shift ? 2 : 1) * dimension, film.groups, true), {condition});
    if (!film.shift) return add(name + ".times", Multiply{}, {x, made});
    auto const middle = static_cast<int>(dimension);
    std::string const scale = add(name + ".scale", Slice{.axis = -1, .begin = 0, .end = middle}, {made});
    std::string const shift = add(name + ".shift", Slice{.axis = -1, .begin = middle, .end = 2 * middle}, {made});
    return add(name + ".plus", Add{}, {add(name + ".times", Multiply{}, {x, scale}), shift});
  }

 private:
  dynamic::SequentialConfig& container_;
  Weights& slopes_;
};

/// The results of one layer of an array: the input of the next layer, and what the head reads.
struct Outputs {
  std::string next, skip;
};
Outputs add_layer(Layers& layers, std::string const& name, LayerArray const& array, Layer const& layer,
                  std::string const& x, std::string const& condition, bool last) {
  auto const film = [&](Place place, std::string const& value) {
    auto const p = static_cast<std::size_t>(place);
    return layers.film(name + std::string{film_names[p]}, array.films[p], array.dimension(place, layer), value,
                       condition);
  };
  Index const sums = array.sums(layer);
  std::string const conv =
      film(conv_post, layers.add(name + "conv", convolution(sums, layer.taps, layer.dilation, array.groups_input, true),
                                 {film(conv_pre, x)}));
  std::string const mixin =
      film(mixin_post,
           layers.add(name + "input_mixin", one_by_one(sums, array.groups_mixin, false), {film(mixin_pre, condition)}));
  std::string const sum = film(activation_pre, layers.add(name + "sum", Add{}, {conv, mixin}));
  std::string y;
  if (layer.gating == Gating::none) {
    y = layers.activation(name + "activation", layer.activation, sum);
  } else {
    auto const middle = static_cast<int>(array.bottleneck);
    std::string const first = layers.add(name + "first", Slice{.axis = -1, .begin = 0, .end = middle}, {sum});
    std::string const second =
        layers.add(name + "second", Slice{.axis = -1, .begin = middle, .end = 2 * middle}, {sum});
    std::string const active = layers.activation(name + "activation", layer.activation, first);
    std::string const gate = layers.activation(name + "gate", layer.secondary, second);
    if (layer.gating == Gating::gated) {
      y = layers.add(name + "gated", Multiply{}, {active, gate});
    } else {  // gate active + (1 - gate) first
      std::string const change = layers.add(name + "change", Subtract{}, {active, first});
      y = layers.add(name + "blended", Add{}, {first, layers.add(name + "share", Multiply{}, {gate, change})});
    }
  }
  y = film(activation_post, y);
  Outputs outputs{x, y};
  if (array.layer1x1.active && !last) {
    std::string next = layers.add(name + "layer1x1", one_by_one(array.channels, array.layer1x1.groups, true), {y});
    if (layer.gating == Gating::blended) next = film(layer1x1_post, next);
    outputs.next = layers.add(name + "residual", Add{}, {x, next});
  }
  if (array.head1x1.active) {
    outputs.skip = film(
        head1x1_post, layers.add(name + "head1x1", one_by_one(array.head1x1.outputs, array.head1x1.groups, true), {y}));
  }
  return outputs;
}

void add(Network const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y);

void add(WaveNet const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y) {
  std::string condition = x, value = x, head;
  if (network.condition) add(*network.condition, layers, prefix + "cond.", x, condition);
  for (std::size_t a = 0; a < network.arrays.size(); ++a) {
    LayerArray const& array = network.arrays[a];
    std::string const name = prefix + "array" + std::to_string(a) + ".";
    value = layers.add(name + "rechannel", one_by_one(array.channels, 1, false), {value});
    for (std::size_t l = 0; l < array.layers.size(); ++l) {
      bool const last = a + 1 == network.arrays.size() && l + 1 == array.layers.size();
      std::string const layer = name + "layer" + std::to_string(l) + ".";
      auto const outputs = add_layer(layers, layer, array, array.layers[l], value, condition, last);
      head = head.empty() ? outputs.skip : layers.add(layer + "skip", Add{}, {head, outputs.skip});
      value = outputs.next;
    }
    head =
        layers.add(name + "head",
                   convolution(array.head_outputs, array.head_taps, array.head_dilation, 1, array.head_bias), {head});
  }
  y = layers.add(prefix + "head_scale", Power{.scale = network.head_scale}, {head});
  if (!network.head) return;
  for (std::size_t i = 0; i < network.head->taps.size(); ++i) {
    std::string const name = prefix + "head" + std::to_string(i) + ".";
    bool const last = i + 1 == network.head->taps.size();
    y = layers.activation(name + "activation", network.head->activation, y);
    Index const outputs = last ? network.head->outputs : network.head->channels;
    y = layers.add(name + "conv", convolution(outputs, network.head->taps[i], 1, 1, true), {y});
  }
}
void add(ConvNet const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y) {
  y = x;
  for (std::size_t b = 0; b < network.dilations.size(); ++b) {
    std::string const name = prefix + "block" + std::to_string(b) + ".";
    y = layers.add(name + "conv", convolution(network.channels, 2, network.dilations[b], network.groups, true), {y});
    y = layers.activation(name + "activation", network.activation, y);
  }
  y = layers.add(prefix + "head", one_by_one(network.outputs, 1, true), {y});
}
void add(Fir const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y) {
  y = layers.add(prefix + "fir", convolution(1, network.taps, 1, 1, network.bias), {x});
}
void add(Lstm const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y) {
  y = layers.add(prefix + "lstm", Rnn{.hidden_size = network.hidden, .num_layers = network.layers}, {x});
  y = layers.add(prefix + "head", one_by_one(network.outputs, 1, true), {y});
}
void add(Network const& network, Layers& layers, std::string const& prefix, std::string const& x, std::string& y) {
  std::visit([&](auto const& kind) { add(kind, layers, prefix, x, y); }, network.kind);
}

}  // namespace

dynamic::LayerConfig to_config(Network const& network, Shape const& input, Weights& slopes, std::string const& x) {
  dynamic::SequentialConfig container;
  container.add_input(x, input);
  Layers layers{container, slopes};
  std::string y;
  add(network, layers, "", x, y);
  return {"nam", std::move(container)};
}

}  // namespace coldpress::convert::nam
