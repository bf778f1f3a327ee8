// A config as a network type in C++ source.
#pragma once

#include "cpp_names.hpp"

#include <coldpress/dynamic/layer_config.hpp>

#include <optional>

namespace coldpress::dynamic {

struct CppStyle {
  bool training = true;    // losses, statistics, initial values and factors of weights belong to it
  bool qualified = false;  // names of the library are written with "coldpress::"
};

/// The source of a network type, as Network<type, inputs> takes it.
struct CppNetwork {
  std::string function;           // the definition of a constexpr function `network`; empty for a Sequential
  std::string type;               // Sequential<...>, or Graph<network>
  std::string inputs;             // Shape{...}, or Inputs{...} for several
  std::string using_declaration;  // which the text needs, if it is not qualified
  std::vector<Shape> in, out;     // the shapes of a sample
  std::vector<int> weights;       // which of the config's weights the type has, in its order
  Index parameters = 0;           // the number of values in these
  int layers = 0;                 // without losses and statistics
};

/// A layer keeps its name where that is seen: if it has weights, is one of several outputs, a loss or a statistic, or
/// draws random numbers. A name of more than 47 characters, for which types have no room, becomes a comment.
///
/// Throws what making a network from the config throws, and UnsupportedError, which names every layer that cannot be
/// part of a type and the reason. `input` is the shape of one sample, for a config that declares none.
[[nodiscard]] CppNetwork cpp_network(LayerConfig const& config, std::optional<Shape> input, CppStyle style);

}  // namespace coldpress::dynamic
