// Spells each architecture in the older of two versions of the format, if that has all of its fields.
#include "nam_write.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace coldpress::convert::nam {
namespace {

using Ordered = nlohmann::ordered_json;  // keeps the order in which members are added

/// The shortest text of a float, which comes back exactly.
void append(std::string& text, float value) {
  std::array<char, 32> buffer;
  text.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}
Ordered number(float value) {
  std::string text;
  append(text, value);
  return Ordered::parse(text);
}

Ordered json_of(Activation const& activation) {
  if (!activation.slopes.empty()) {
    Ordered slopes = Ordered::array();
    for (float const slope : activation.slopes) slopes.push_back(number(slope));
    return {{"type", "PReLU"}, {"negative_slopes", std::move(slopes)}};
  }
  auto const& layer = activation.layer;
  if (auto const* const leaky = std::get_if<LeakyReLU>(&layer))
    return {{"type", "LeakyReLU"}, {"negative_slope", number(leaky->slope)}};
  if (auto const* const leaky = std::get_if<LeakyHardTanh>(&layer)) {
    return {{"type", "LeakyHardtanh"},
            {"min_val", number(leaky->min_val)},
            {"max_val", number(leaky->max_val)},
            {"min_slope", number(leaky->min_slope)},
            {"max_slope", number(leaky->max_slope)}};
  }
  if (std::holds_alternative<TanH>(layer)) return "Tanh";
  if (auto const* const hard = std::get_if<HardTanh>(&layer); hard && *hard == HardTanh{}) return "Hardtanh";
  if (std::holds_alternative<ReLU>(layer)) return "ReLU";
  if (std::holds_alternative<Sigmoid>(layer)) return "Sigmoid";
  if (std::holds_alternative<SiLU>(layer)) return "SiLU";
  if (std::holds_alternative<HardSwish>(layer)) return "Hardswish";
  if (std::holds_alternative<Softsign>(layer)) return "Softsign";
  throw UnsupportedError{"a .nam file has no activation " + dynamic::type_name(layer)};
}

/// A list with an entry for each layer.
template <class F>
Ordered each_layer(LayerArray const& array, F f) {
  Ordered list = Ordered::array();
  for (Layer const& layer : array.layers) list.push_back(f(layer));
  return list;
}

/// Whether the fields that version 0.5 has describe the array.
bool is_plain(LayerArray const& array) {
  auto const& first = array.layers[0];
  return array.bottleneck == array.channels && array.head_taps == 1 && array.head_dilation == 1 &&
         array.groups_input == 1 && array.groups_mixin == 1 && array.layer1x1 == OneByOne{.active = true} &&
         !array.head1x1.active && std::ranges::none_of(array.films, &Film::active) &&
         std::ranges::all_of(array.layers, [&](Layer const& layer) {
           return layer.taps == first.taps && layer.activation == first.activation && layer.gating == first.gating &&
                  layer.gating != Gating::blended &&
                  (layer.gating == Gating::none || layer.secondary == Activation{Sigmoid{}});
         });
}

Ordered plain_json(LayerArray const& array) {
  return {{"input_size", array.inputs},
          {"condition_size", array.condition},
          {"head_size", array.head_outputs},
          {"channels", array.channels},
          {"kernel_size", array.layers[0].taps},
          {"dilations", each_layer(array, [](Layer const& layer) { return layer.dilation; })},
          {"activation", json_of(array.layers[0].activation)},
          {"gated", array.layers[0].gating == Gating::gated},
          {"head_bias", array.head_bias}};
}

Ordered json_of(LayerArray const& array) {
  if (is_plain(array)) return plain_json(array);
  Ordered json = {
      {"input_size", array.inputs},
      {"condition_size", array.condition},
      {"head", {{"out_channels", array.head_outputs}, {"kernel_size", array.head_taps}, {"bias", array.head_bias}}},
      {"channels", array.channels},
      {"bottleneck", array.bottleneck},
      {"kernel_sizes", each_layer(array, [](Layer const& layer) { return layer.taps; })},
      {"dilations", each_layer(array, [](Layer const& layer) { return layer.dilation; })},
      {"activation", each_layer(array, [](Layer const& layer) { return json_of(layer.activation); })},
      {"gating_mode", each_layer(array,
                                 [](Layer const& layer) {
                                   return std::string{gating_names[static_cast<std::size_t>(layer.gating)]};
                                 })},
      {"secondary_activation", each_layer(array,
                                          [](Layer const& layer) {
                                            return layer.gating == Gating::none ? Ordered{} : json_of(layer.secondary);
                                          })},
      {"groups_input", array.groups_input},
      {"groups_input_mixin", array.groups_mixin},
      {"layer1x1", {{"active", array.layer1x1.active}, {"groups", array.layer1x1.groups}}},
      {"head1x1",
       {{"active", array.head1x1.active}, {"out_channels", array.head1x1.outputs}, {"groups", array.head1x1.groups}}}};
  if (array.head_dilation != 1) json["head"]["head_dilation"] = array.head_dilation;
  for (std::size_t p = 0; p < film_names.size(); ++p) {
    Film const& film = array.films[p];
    json[std::string{film_names[p]}] = {{"active", film.active}, {"shift", film.shift}, {"groups", film.groups}};
  }
  return json;
}

std::string file_text(char const* version, char const* architecture, Ordered const& config, Beside const& more,
                      std::vector<float> const& numbers) {
  std::string text = std::string{"{\"version\":\""} + version + "\",\"architecture\":\"" + architecture +
                     "\",\"config\":" + config.dump();
  if (more.metadata) text += ",\"metadata\":" + more.metadata->dump();
  if (more.sample_rate) text += ",\"sample_rate\":" + Json(*more.sample_rate).dump();
  text += ",\"weights\":[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ',';
    append(text, numbers[i]);
  }
  return text + "]}\n";
}

constexpr char const* plain_version = "0.5.4";
constexpr char const* full_version = "0.7.0";

std::string text_of(WaveNet const& network, Weights const& weights, Beside const& more, std::string const& prefix,
                    std::vector<float> const& numbers) {
  Ordered config = Ordered::object();
  bool plain = !network.head && !network.condition && network.inputs == 1;
  if (network.condition) {
    auto const inner = nam::text_of(*network.condition, weights, {.sample_rate = more.sample_rate}, prefix + "cond.");
    config["condition_dsp"] = Ordered::parse(inner);
  }
  if (network.inputs != 1) config["in_channels"] = network.inputs;
  config["layers"] = Ordered::array();
  for (LayerArray const& array : network.arrays) {
    config["layers"].push_back(json_of(array));
    plain = plain && is_plain(array);
  }
  config["head"] = nullptr;
  if (network.head) {
    config["head"] = {{"channels", network.head->channels},
                      {"out_channels", network.head->outputs},
                      {"kernel_sizes", network.head->taps},
                      {"activation", json_of(network.head->activation)}};
  }
  config["head_scale"] = number(network.head_scale);
  return file_text(plain ? plain_version : full_version, "WaveNet", config, more, numbers);
}
void add_channels(Ordered& config, Index inputs, Index outputs) {
  if (inputs != 1) config["in_channels"] = inputs;
  if (outputs != 1) config["out_channels"] = outputs;
}
std::string text_of(Lstm const& network, Weights const&, Beside const& more, std::string const&,
                    std::vector<float> const& numbers) {
  Ordered config = {{"input_size", network.inputs}, {"hidden_size", network.hidden}, {"num_layers", network.layers}};
  add_channels(config, network.inputs, network.outputs);
  return file_text(config.size() == 3 ? plain_version : full_version, "LSTM", config, more, numbers);
}
std::string text_of(ConvNet const& network, Weights const&, Beside const& more, std::string const&,
                    std::vector<float> const& numbers) {
  Ordered config = {{"channels", network.channels},
                    {"dilations", network.dilations},
                    {"batchnorm", false},
                    {"activation", json_of(network.activation)}};
  if (network.groups != 1) config["groups"] = network.groups;
  add_channels(config, network.inputs, network.outputs);
  return file_text(config.size() == 4 && config["activation"].is_string() ? plain_version : full_version, "ConvNet",
                   config, more, numbers);
}
std::string text_of(Fir const& network, Weights const&, Beside const& more, std::string const&,
                    std::vector<float> const& numbers) {
  Ordered const config = {{"receptive_field", network.taps}, {"bias", network.bias}};
  return file_text(plain_version, "Linear", config, more, numbers);
}

}  // namespace

std::string text_of(Network const& network, Weights const& weights, Beside const& more, std::string const& prefix) {
  auto const numbers = numbers_of(network, weights, prefix);
  return std::visit([&](auto const& kind) { return text_of(kind, weights, more, prefix, numbers); }, network.kind);
}

}  // namespace coldpress::convert::nam
