// Checks and reads the fields of each architecture, with the defaults of those that may be missing.
#include "nam_parse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coldpress::convert::nam {
namespace {

void check_groups(Node const& at, std::string_view key, Index groups, Index inputs, Index outputs) {
  if (inputs % groups == 0 && outputs % groups == 0) return;
  auto const found = at.find(key);
  (found ? *found : at)
      .refuse("got " + std::to_string(groups) + " groups, which do not divide " + std::to_string(inputs) +
              " inputs and " + std::to_string(outputs) + " outputs");
}

Activation leaky(float slope, Index channels) {
  if (slope >= 0) return {LeakyReLU{.slope = slope}};
  return {ReLU{}, std::vector<float>(static_cast<std::size_t>(channels), slope)};
}

Activation parse_slopes(Node const& slopes, Index channels) {
  std::size_t const count = slopes.size();
  if (count != 1 && count != static_cast<std::size_t>(channels))
    slopes.expected("one slope, or one for each of " + std::to_string(channels) + " channels");
  Activation activation{ReLU{}};
  for (std::size_t i = 0; i < count; ++i) {
    double const slope = slopes[i].number();
    if (!(std::abs(slope) <= static_cast<double>(std::numeric_limits<float>::max())))
      slopes[i].expected("a number within the range of a float");
    activation.slopes.push_back(static_cast<float>(slope));
  }
  return count == 1 ? leaky(activation.slopes[0], channels) : activation;
}

Index parse_size(Node const& at, std::string_view key, Index most = max_channels) { return at[key].integer(1, most); }

/// An entry of a list with one for each layer, or the one value for all of them.
Node of_layer(Node const& value, std::size_t layer, std::size_t layers) {
  if (!value.is_list()) return value;
  if (value.size() != layers) value.expected("a list of " + std::to_string(layers) + ", as many as \"dilations\" has");
  return value[layer];
}

Gating parse_gating(Node const& value) {
  auto const name = value.text();
  auto const found = std::ranges::find(gating_names, name);
  if (found == gating_names.end()) value.expected("\"none\", \"gated\" or \"blended\"");
  return static_cast<Gating>(found - gating_names.begin());
}

void parse_head(Node const& at, LayerArray& array) {
  if (auto const head = at.find_value("head")) {
    array.head_outputs = parse_size(*head, "out_channels");
    array.head_taps = parse_size(*head, "kernel_size", max_taps);
    array.head_dilation = head->integer("head_dilation", 1, 1, max_dilation);
    array.head_bias = (*head)["bias"].flag();
  } else if (at.find("head_size")) {
    array.head_outputs = parse_size(at, "head_size");
    array.head_bias = at["head_bias"].flag();
  } else {
    at.refuse("has neither \"head\" nor \"head_size\"");
  }
}

void parse_layers(Node const& at, LayerArray& array) {
  Node const dilations = at["dilations"];
  std::size_t const count = dilations.size();
  if (count == 0 || count > static_cast<std::size_t>(max_layers))
    dilations.expected("a list of 1 to " + grouped(max_layers));
  auto const one = at.find_value("kernel_size"), many = at.find_value("kernel_sizes");
  if (one && many) many->refuse("stands beside \"kernel_size\"; only one of them may be given");
  if (!one && !many) at.refuse("has neither \"kernel_size\" nor \"kernel_sizes\"");
  if (many && !many->is_list()) many->expected("a list");
  Node const taps = one ? *one : *many;
  auto const gating = at.find_value("gating_mode"), secondary = at.find_value("secondary_activation");
  bool const gated = !gating && at.flag("gated", false);
  Node const activations = at["activation"];
  Activation const common = activations.is_list() ? Activation{} : parse_activation(activations, array.bottleneck);
  for (std::size_t l = 0; l < count; ++l) {
    Layer layer{.taps = of_layer(taps, l, count).integer(1, max_taps),
                .dilation = dilations[l].integer(1, max_dilation)};
    layer.activation =
        activations.is_list() ? parse_activation(of_layer(activations, l, count), array.bottleneck) : common;
    if (gated) layer.gating = Gating::gated;
    if (gating) layer.gating = parse_gating(of_layer(*gating, l, count));
    if (gating && layer.gating != Gating::none && secondary) {
      Node const activation = of_layer(*secondary, l, count);
      if (!activation.is_null()) layer.secondary = parse_activation(activation, array.bottleneck);
    }
    array.layers.push_back(std::move(layer));
  }
}

OneByOne parse_one_by_one(Node const& at, OneByOne one) {
  one.active = at["active"].flag();
  one.groups = at.integer("groups", 1, 1, max_channels);
  return one;
}

void check_all_groups(Node const& at, LayerArray const& array, Layer const& layer) {
  check_groups(at, "groups_input", array.groups_input, array.channels, array.sums(layer));
  check_groups(at, "groups_input_mixin", array.groups_mixin, array.condition, array.sums(layer));
  if (array.layer1x1.active) check_groups(at, "layer1x1", array.layer1x1.groups, array.bottleneck, array.channels);
  if (array.head1x1.active) check_groups(at, "head1x1", array.head1x1.groups, array.bottleneck, array.head1x1.outputs);
  for (std::size_t p = 0; p < film_names.size(); ++p) {
    Film const& film = array.films[p];
    if (!film.active) continue;
    Index const factor = film.shift ? 2 : 1;
    check_groups(at, film_names[p], film.groups, array.condition,
                 factor * array.dimension(static_cast<Place>(p), layer));
  }
}

LayerArray parse_array(Node const& at, Index condition, LayerArray const* before, Index inputs) {
  LayerArray array;
  auto const same = [&](std::string_view key, Index expected, std::string const& what) {
    if (Index const found = parse_size(at, key); found != expected)
      at[key].expected(std::to_string(expected) + ", " + what);
    return expected;
  };
  array.inputs = same("input_size", before ? before->channels : inputs,
                      before ? "the channels of the array before it" : "the channels of the input");
  array.condition = same("condition_size", condition, "the channels of the condition");
  array.channels = before ? same("channels", before->head_outputs, "the outputs of the head of the array before it")
                          : parse_size(at, "channels");
  array.bottleneck = at.integer("bottleneck", array.channels, 1, max_channels);
  array.groups_input = at.integer("groups_input", 1, 1, max_channels);
  array.groups_mixin = at.integer("groups_input_mixin", 1, 1, max_channels);
  parse_head(at, array);
  if (auto const given = at.find_value("layer1x1")) array.layer1x1 = parse_one_by_one(*given, array.layer1x1);
  if (auto const given = at.find_value("head1x1")) {
    array.head1x1 = parse_one_by_one(*given, array.head1x1);
    if (array.head1x1.active) array.head1x1.outputs = parse_size(*given, "out_channels");
  }
  for (std::size_t p = 0; p < film_names.size(); ++p) {
    auto const given = at.find_value(film_names[p]);
    if (!given || (given->json().is_boolean() && !given->flag())) continue;
    array.films[p] = {given->flag("active", true), given->flag("shift", true),
                      given->integer("groups", 1, 1, max_channels)};
    bool const alone = array.films[p].active &&
                       ((p == layer1x1_post && !array.layer1x1.active) || (p == head1x1_post && !array.head1x1.active));
    if (alone) given->refuse("is active, but what comes before it is not");
  }
  if (!array.layer1x1.active && array.bottleneck != array.channels)
    at.refuse("without layer1x1, \"bottleneck\" must be " + std::to_string(array.channels) +
              ", the number of channels");
  if (before && array.skips() != before->head_outputs) {
    at.refuse("its layers give the head " + std::to_string(array.skips()) + " channels, and the array before it " +
              std::to_string(before->head_outputs));
  }
  parse_layers(at, array);
  for (Layer const& layer : array.layers) check_all_groups(at, array, layer);
  return array;
}

}  // namespace

Activation parse_activation(Node const& activation, Index channels) {
  bool const object = activation.is_object();
  if (!object && !activation.is_text())
    activation.expected("the name of an activation, or an object with its \"type\"");
  Node const type = object ? activation["type"] : activation;
  std::string const name = type.text();
  auto const number = [&](std::string_view key, float otherwise) {
    return object ? activation.number(key, otherwise) : otherwise;
  };
  if (name == "Tanh" || name == "Fasttanh") return {TanH{}};
  if (name == "Hardtanh") return {HardTanh{}};
  if (name == "ReLU") return {ReLU{}};
  if (name == "Sigmoid") return {Sigmoid{}};
  if (name == "SiLU") return {SiLU{}};
  if (name == "Hardswish") return {HardSwish{}};
  if (name == "Softsign") return {Softsign{}};
  if (name == "LeakyReLU") return leaky(number("negative_slope", 0.01f), channels);
  if (name == "PReLU") {
    if (object && !activation.find_value("negative_slope")) {
      if (auto const slopes = activation.find_value("negative_slopes")) return parse_slopes(*slopes, channels);
    }
    return leaky(number("negative_slope", 0.01f), channels);
  }
  if (name == "LeakyHardtanh" || name == "LeakyHardTanh") {
    LeakyHardTanh const layer{number("min_val", -1), number("max_val", 1), number("min_slope", 0.01f),
                              number("max_slope", 0.01f)};
    if (!(layer.min_val < layer.max_val)) activation.refuse("\"min_val\" must be less than \"max_val\"");
    return {layer};
  }
  type.refuse<UnsupportedError>("got " + described(type.json()) + ", which is no activation that is known");
}

WaveNet parse_wavenet(Node const& config, double size, std::vector<double>& sizes,
                      std::function<Network(Node const&)> const& parse_condition) {
  WaveNet network{.inputs = config.integer("in_channels", 1, 1, max_channels)};
  Index condition = network.inputs;
  if (auto const given = config.find_value("condition_dsp")) {
    network.condition = std::make_shared<Network>(parse_condition(*given));
    if (network.condition->inputs() != network.inputs) {
      given->refuse("reads " + std::to_string(network.condition->inputs()) + " channels, and the network has " +
                    std::to_string(network.inputs));
    }
    condition = network.condition->outputs();
  }
  Node const arrays = config["layers"];
  if (arrays.size() == 0 || arrays.size() > 64) arrays.expected("a list of 1 to 64");
  std::vector<std::vector<Index>> allowed;
  network.arrays.reserve(arrays.size());
  std::size_t layers = 0;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    LayerArray const* const before = a == 0 ? nullptr : &network.arrays[a - 1];
    network.arrays.push_back(parse_array(arrays[a], condition, before, network.inputs));
    layers += network.arrays.back().layers.size();
    if (layers > static_cast<std::size_t>(max_layers))
      arrays[a]["dilations"].refuse("with these, the network has more than " + grouped(max_layers) + " layers");
    allowed.push_back(parse_allowed(arrays[a], network.arrays.back().channels));
  }
  if (auto const given = config.find_value("head")) {
    Index const inputs = network.arrays.back().head_outputs;
    if (auto const said = given->find_value("in_channels"); said && said->integer(1, max_channels) != inputs)
      said->expected(std::to_string(inputs) + ", the outputs of the last array");
    Head head{.channels = parse_size(*given, "channels"), .outputs = parse_size(*given, "out_channels")};
    Node const taps = (*given)["kernel_sizes"];
    if (taps.size() == 0 || taps.size() > static_cast<std::size_t>(max_layers))
      taps.expected("a list of 1 to " + grouped(max_layers));
    for (std::size_t i = 0; i < taps.size(); ++i) head.taps.push_back(taps[i].integer(1, max_taps));
    Node const activation = (*given)["activation"];
    head.activation = parse_activation(activation, inputs);
    if (!head.activation.slopes.empty() && taps.size() > 1 && head.channels != inputs)
      activation.refuse<UnsupportedError>("its slopes are for " + std::to_string(inputs) +
                                          " channels, but the head has " + std::to_string(head.channels));
    network.head = std::move(head);
  }
  bool const slimmable = std::ranges::any_of(allowed, [](auto const& counts) { return !counts.empty(); });
  if (slimmable && network.head)
    config["head"].refuse<UnsupportedError>("a network with a head of its own cannot be slimmed");
  if (slimmable) slim(network, arrays, allowed, size, sizes);
  return network;
}

Lstm parse_lstm(Node const& config) {
  Lstm const network{.inputs = parse_size(config, "input_size"),
                     .outputs = config.integer("out_channels", 1, 1, max_channels),
                     .hidden = parse_size(config, "hidden_size"),
                     .layers = parse_size(config, "num_layers", max_layers)};
  Index const channels = config.integer("in_channels", 1, 1, max_channels);
  if (channels != network.inputs)
    config["input_size"].expected(std::to_string(channels) + ", the channels of the input");
  return network;
}

ConvNet parse_convnet(Node const& config) {
  ConvNet network{.inputs = config.integer("in_channels", 1, 1, max_channels),
                  .outputs = config.integer("out_channels", 1, 1, max_channels),
                  .channels = parse_size(config, "channels"),
                  .groups = config.integer("groups", 1, 1, max_channels),
                  .batchnorm = config["batchnorm"].flag()};
  Node const dilations = config["dilations"];
  if (dilations.size() == 0 || dilations.size() > static_cast<std::size_t>(max_layers))
    dilations.expected("a list of 1 to " + grouped(max_layers));
  for (std::size_t b = 0; b < dilations.size(); ++b) network.dilations.push_back(dilations[b].integer(1, max_dilation));
  check_groups(config, "groups", network.groups, network.inputs, network.channels);
  network.activation = parse_activation(config["activation"], network.channels);
  return network;
}

Fir parse_linear(Node const& config) {
  for (char const* const key : {"in_channels", "out_channels"}) {
    if (auto const given = config.find_value(key); given && given->integer(1, max_channels) != 1)
      given->refuse<UnsupportedError>("got " + described(given->json()) + ", and Linear is known for one channel only");
  }
  return {.taps = parse_size(config, "receptive_field", max_taps), .bias = config["bias"].flag()};
}

}  // namespace coldpress::convert::nam
