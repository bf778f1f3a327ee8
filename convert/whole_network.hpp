// Networks of files that have all of it, layers and weights.
#pragma once

#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace coldpress::convert {

/// The most numbers that a stream through a network of a file may keep: 256 MiB.
inline constexpr Index max_history = Index{1} << 26;

using Weights = std::map<std::string, std::vector<float>, std::less<>>;  // by their names in files of coldpress

/// The model of a config and its weights, which must be all that it has, in the order and with the shapes of the
/// config.
[[nodiscard]] persist::Model model_of(dynamic::LayerConfig config, Weights const& weights);

/// The layer with the axis of the features counted from the last one, if it works along it in sequences {steps,
/// features}. The same config then makes a network for single steps, {features}, which a stream needs.
template <class L>
[[nodiscard]] L for_steps_too(L layer, std::vector<Shape> const& inputs) {
  if constexpr (requires { requires std::same_as<decltype(layer.axis), int>; }) {
    if (layer.axis == 1 && std::ranges::all_of(inputs, [](Shape const& in) { return in.rank() == 2; })) layer.axis = -1;
  }
  return layer;
}

}  // namespace coldpress::convert
