// One model of a .nam file: its version, architecture, weights and metadata.
#include "nam_parse.hpp"

#include <coldpress/convert/nam.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace coldpress::convert::nam {
namespace {

/// MAJOR.MINOR.PATCH; nothing for another text.
std::optional<std::array<Index, 3>> parse_version(std::string_view text) {
  std::array<Index, 3> version{};
  for (std::size_t part = 0; part < version.size(); ++part) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      version[part] = std::min<Index>(10 * version[part] + (text[digits] - '0'), 1'000'000);
      ++digits;
    }
    text.remove_prefix(digits);
    if (digits == 0 || (part < 2 && !text.starts_with('.'))) return {};
    if (part < 2) text.remove_prefix(1);
  }
  return text.empty() ? std::optional{version} : std::nullopt;
}

std::string check_version(Node const& node) {
  std::string const text = node.text();
  auto const version = parse_version(text);
  if (!version) node.expected("a version such as \"0.5.4\"");
  if ((*version)[0] != 0 || (*version)[1] < 5 || (*version)[1] > 7)
    node.refuse<UnsupportedError>("got " + described(node.json()) + ", and only versions from 0.5.0 to 0.7 are known");
  return text;
}

std::vector<float> parse_weights(Node const& node, Index needed) {
  auto const count = static_cast<Index>(node.size());
  if (count != needed) node.refuse(grouped(count) + " values, the network needs " + grouped(needed));
  std::vector<float> numbers;
  numbers.reserve(node.size());
  for (std::size_t i = 0; i < node.size(); ++i) {
    Json const& value = node.json()[i];
    double const number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max())))
      node[i].expected("a number within the range of a float");
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

using Kind = decltype(Network::kind);

Kind parse_kind(Node const& model, double size, std::string const& prefix, int depth, Parsed& parsed) {
  Node const architecture = model["architecture"], config = model["config"];
  std::string const name = architecture.text();
  if (name == "LSTM") return parse_lstm(config);
  if (name == "ConvNet") return parse_convnet(config);
  if (name == "Linear") return parse_linear(config);
  if (name != "WaveNet") {
    architecture.refuse<UnsupportedError>("got " + described(architecture.json()) +
                                          ", which is no architecture that is known");
  }
  return parse_wavenet(config, size, parsed.sizes, [&](Node const& condition) {
    Network inner = parse_model(condition, 1, prefix + "cond.", depth + 1).network;
    parsed.network.weights.merge(inner.weights);
    inner.weights.clear();
    return inner;
  });
}

/// The model of that size of a container, and what the container says of it.
Parsed parse_container(Node const& model, double size, std::string const& prefix, int depth) {
  Node const all = model["config"]["submodels"];
  if (all.size() == 0 || all.size() > 64) all.expected("a list of 1 to 64");
  std::vector<double> sizes{0};
  std::size_t chosen = all.size() - 1;
  for (std::size_t i = all.size(); i-- > 0;) {
    Node const most = all[i]["max_value"];
    double const value = most.number();
    if (i > 0 && !(value > all[i - 1]["max_value"].number())) most.expected("more than that of the model before it");
    if (i + 1 == all.size()) {
      if (!(value >= 1)) most.expected("at least 1 for the last model");
    } else {
      sizes.push_back(value);
      if (size < value) chosen = i;
    }
  }
  std::ranges::sort(sizes);
  Parsed parsed = parse_model(all[chosen]["model"], 1, prefix, depth + 1);
  parsed.sizes = std::move(sizes);
  return parsed;
}

void add_metadata(Node const& model, Parsed& parsed) {
  if (auto const given = model.find_value("metadata")) {
    if (!given->is_object()) given->expected("an object");
    for (auto const& [key, value] : given->json().items()) {
      if (!parsed.metadata.contains(key)) parsed.metadata[key] = value;
    }
  }
  auto const rate = model.find_value("sample_rate");
  if (!rate) return;
  double const value = rate->number();
  if (!(value > 0 && value <= NamMetadata::most_sample_rate)) rate->expected("a number of Hz above 0");
  if (parsed.sample_rate && *parsed.sample_rate != value)
    rate->expected(described(*parsed.sample_rate) + ", which the model inside has");
  parsed.sample_rate = value;
}

}  // namespace

Parsed parse_model(Node const& model, double size, std::string const& prefix, int depth) {
  if (depth >= max_networks) model.refuse("more than " + std::to_string(max_networks) + " models, one inside another");
  if (!model.is_object()) model.expected("an object");
  std::string const version = check_version(model["version"]);
  bool const container = model["architecture"].is_text() && model["architecture"].text() == "SlimmableContainer";
  Parsed parsed;
  if (container) {
    parsed = parse_container(model, size, prefix, depth);
  } else {
    parsed.metadata = Json::object();
    parsed.network.kind = parse_kind(model, size, prefix, depth, parsed);
    Index const kept = history(parsed.network);
    if (kept > max_history) {
      model["config"].refuse("a stream would keep " + grouped(kept) + " numbers, and at most " + grouped(max_history) +
                             " are allowed");
    }
    Node const weights = model["weights"];
    set_weights(parsed.network, parse_weights(weights, weight_count(parsed.network)), prefix);
    for (auto const& [name, values] : parsed.network.weights) {
      if (std::ranges::any_of(values, [](float value) { return !std::isfinite(value); }))
        weights.refuse("batch normalisation makes '" + name + "' infinite or NaN");
    }
  }
  parsed.version = version;
  add_metadata(model, parsed);
  return parsed;
}

}  // namespace coldpress::convert::nam
