// Writes a config as a network type in C++.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coldpress::dynamic {

/// The source of a network type, as Network<...> takes it. Losses and statistics are left out, since they need targets.
struct CppSource {
  std::string function;      // the definition of a constexpr function `network`; empty for a Sequential
  std::string type;          // Sequential<...>, or Graph<network>
  std::string inputs;        // Shape{...}, or Inputs{...} for several
  std::vector<int> weights;  // which of the config's weights the type has, in its order
};

/// Throws what making a network from the config throws, and UnsupportedError with the layer's name for a custom layer.
/// `input` is the shape of one sample, for a config that declares none.
[[nodiscard]] CppSource cpp_source(LayerConfig const& config, std::optional<Shape> input = {});

}  // namespace coldpress::dynamic
