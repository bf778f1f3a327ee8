// What a harness refuses to run: valid input that takes more work than a fuzzer has time for. Other tests cover the
// library's own limits.
#pragma once

#include <coldpress/persist/model.hpp>
#include <coldpress/persist/network.hpp>

namespace coldpress::fuzz {

/// Few layers, with few names each, and no loss with more than a hundred iterations, with many labels, or with
/// transforms of a step.
inline bool is_small(dynamic::LayerConfig const& config, int& left) {
  left -= 1 + static_cast<int>(config.inputs.size() + config.outputs.size()) / 8;
  if (auto const* loss = std::get_if<Wasserstein>(&config.layer_type)) return left >= 0 && loss->iterations <= 100;
  if (auto const* loss = std::get_if<CTCLoss>(&config.layer_type)) return left >= 0 && loss->labels <= 8;
  if (auto const* loss = std::get_if<StftLoss>(&config.layer_type)) {
    for (int r = 0; r < PerAxis::max; ++r)
      if (loss->fft_size[r] / 32 > loss->hop_size[r]) return false;
  }
  auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type);
  if (!container) return left >= 0;
  left -= static_cast<int>(container->inputs.size());
  for (auto const& layer : container->layers) {
    if (left < 0 || !is_small(layer, left)) return false;
  }
  return left >= 0;
}
inline bool is_small(dynamic::LayerConfig const& config) {
  int left = 256;
  return is_small(config, left);
}

/// So many weights, values of a sample and inputs together at most.
inline bool is_affordable(persist::Model const& model, Index most_weights, Index most_values) {
  Index weights = 0, values = 0;
  for (auto const& tensor : model.weights) weights += static_cast<Index>(tensor.values.size());
  if (weights > most_weights || !dynamic::declares_input(model.config)) return weights <= most_weights;
  for (auto const& weight : dynamic::weights_of(model.config, {})) {
    if ((weights += weight.shape.size()) > 2 * most_weights) return false;
  }
  for (auto const& [name, shape] : dynamic::output_shapes(model.config)) {
    if ((values += shape.size()) > most_values) return false;
  }
  return true;
}

}  // namespace coldpress::fuzz
