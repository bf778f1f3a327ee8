// Builds the architectures for training and for streaming, and writes the result as .nam or as a network.
#include "amp_networks.hpp"

#include <coldpress/amp.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

namespace coldpress::command {
namespace {

struct Architecture {
  std::string name;
  Index run_in;
  std::function<dynamic::LayerConfig(Shape)> config;
};
std::vector<Architecture> const& architectures() {
  static std::vector<Architecture> const all = [] {
    std::vector<Architecture> list;
    amp::for_each_architecture([&](char const* name, auto const& network, Index run_in) {
      list.push_back({name, run_in, [network](Shape in) { return dynamic::to_config(network, in); }});
    });
    return list;
  }();
  return all;
}
Architecture const& architecture_called(std::string const& name) {
  for (Architecture const& architecture : architectures())
    if (architecture.name == name) return architecture;
  throw ConfigError{"there is no architecture '" + name + "'"};
}

}  // namespace

std::vector<std::string> amp_architectures() {
  std::vector<std::string> names;
  for (Architecture const& architecture : architectures()) names.push_back(architecture.name);
  return names;
}
Index amp_run_in(std::string const& architecture) { return architecture_called(architecture).run_in; }
dynamic::LayerConfig amp_stream(std::string const& architecture) {
  return architecture_called(architecture).config({1});
}

dynamic::LayerConfig amp_training(std::string const& architecture, Index length, AmpLosses const& losses) {
  Architecture const& of = architecture_called(architecture);
  dynamic::LayerConfig network = of.config({of.run_in + length, 1});
  auto& layers = std::get<dynamic::SequentialConfig>(network.layer_type);
  layers.add_input("target", {length, 1});
  auto const add = [&](dynamic::LayerConfig layer, std::vector<std::string> inputs) {
    layer.inputs = std::move(inputs);
    layers.add_layer(std::move(layer));
  };
  std::string const whole = network.outputs.at(0);
  dynamic::LayerConfig judged{"judged", Slice{.begin = static_cast<int>(of.run_in)}};
  judged.outputs = {"judged"};
  add(std::move(judged), {whole});
  network.outputs = {"judged"};
  if (losses.squares > 0) {
    add({"squares", MeanSquaredError{.loss_weight = losses.squares, .loss_average = Average::values}},
        {"judged", "target"});
  }
  if (losses.ratio > 0) {
    add({"ratio", ErrorToSignalRatio{.pre_emphasis = losses.pre_emphasis, .loss_weight = losses.ratio}},
        {"judged", "target"});
  }
  if (losses.spectra > 0) add({"spectra", StftLoss{.loss_weight = losses.spectra}}, {"judged", "target"});
  return network;
}

bool is_nam(std::string const& path) { return path.ends_with(".nam"); }

void write_amp(std::string const& path, TrainedAmp const& amp) {
  convert::NamMetadata metadata{.sample_rate = static_cast<double>(amp.sample_rate),
                                .loudness = amp.loudness,
                                .name = persist::printable(std::filesystem::path{path}.stem().string())};
  if (std::isfinite(amp.ratio)) {
    char text[80];
    std::snprintf(text, sizeof text, R"({"training": {"validation_esr": %.6g}})", amp.ratio);
    metadata.others = text;
  }
  if (is_nam(path)) return convert::write_nam(path, amp.model, metadata);
  persist::Model model = amp.model;
  model.metadata = convert::entries_of(metadata);
  persist::write_model(path, model);
}

}  // namespace coldpress::command
