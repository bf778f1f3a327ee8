// Networks of files that have all of it, layers and weights.
#pragma once

#include <coldpress/persist/model.hpp>

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

}  // namespace coldpress::convert
