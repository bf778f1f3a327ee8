// Gives the parts of a network type alone, for programs that write the rest of the header themselves.
#include <coldpress/dynamic/cpp_source.hpp>

#include "cpp_network.hpp"

namespace coldpress::dynamic {

CppSource cpp_source(LayerConfig const& config, std::optional<Shape> input) {
  CppNetwork network = cpp_network(config, input, {.training = false, .qualified = true});
  return {std::move(network.function), std::move(network.type), std::move(network.inputs), std::move(network.weights)};
}

}  // namespace coldpress::dynamic
