// Puts weights that are found by their names into the model of a config, in its order.
#include "whole_network.hpp"

#include <coldpress/dynamic/layer.hpp>

#include "weights.hpp"

#include <utility>

namespace coldpress::convert {

persist::Model model_of(dynamic::LayerConfig config, Weights const& weights) {
  std::vector<persist::NamedTensor> tensors;
  for (auto const& weight : dynamic::weights_of(config)) {
    tensors.push_back({weight.name, dynamic::juice_extents(weight.shape), weights.find(weight.name)->second});
  }
  return {.name = "network", .config = std::move(config), .weights = std::move(tensors)};
}

}  // namespace coldpress::convert
