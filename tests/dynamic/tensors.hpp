// What the tests of the dynamic API share: tensors from numbers, small configs, and what an error says.
#pragma once

#include <coldpress/dynamic.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace coldpress::test {

using dynamic::Backend;
using dynamic::LayerConfig;
using dynamic::Mode;
using dynamic::SequentialConfig;
using dynamic::SharedTensor;
using dynamic::SolverConfig;
// Not coldpress's own, which are a concept and a template for types.
using Net = dynamic::Layer;
using Trainer = dynamic::Solver;

using Floats = std::vector<float>;

inline SharedTensor tensor(std::vector<Index> shape, Floats const& values) {
  SharedTensor made{std::move(shape)};
  REQUIRE(values.size() == static_cast<std::size_t>(made.size()));
  std::copy(values.begin(), values.end(), made.write_only().begin());
  return made;
}
inline SharedTensor noise(std::vector<Index> shape, std::uint64_t seed, float low = -1, float high = 1) {
  SharedTensor made{std::move(shape)};
  Floats const values = Random{seed}.values<float>(made.size(), low, high);
  std::copy(values.begin(), values.end(), made.write_only().begin());
  return made;
}
inline Floats values_of(SharedTensor const& t) { return copy_of<float>(t.read()); }
inline Floats values_of(std::vector<SharedTensor> const& tensors) {
  Floats all;
  for (SharedTensor const& t : tensors) all.insert(all.end(), t.read().begin(), t.read().end());
  return all;
}
inline Floats weights_of(Net const& layer) { return values_of(layer.learnable_weights_data()); }
inline Floats gradients_of(Net const& layer) { return values_of(layer.learnable_weights_gradients()); }

inline LayerConfig sequential(std::vector<LayerConfig> layers, std::optional<Shape> input = {},
                              std::string name = "network") {
  SequentialConfig config{.layers = std::move(layers), .inputs = {}};
  if (input) config.add_input("data", *input);
  return {std::move(name), std::move(config)};
}
inline LayerConfig wired(LayerConfig layer, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  layer.inputs = std::move(inputs), layer.outputs = std::move(outputs);
  return layer;
}
/// Four values, eight units, three outputs.
inline LayerConfig small_network(dynamic::LayerType activation = TanH{}) {
  return sequential({{"hidden", Linear{8}}, {"activation", std::move(activation)}, {"out", Linear{3}}}, Shape{4});
}

/// The error that the action ends in, which must be exactly of this type.
template <class E, class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (Error const& error) {
    INFO(error.what());
    CHECK(typeid(error) == typeid(E));
    return error;
  }
  FAIL("there was no error");
  return Error{""};
}
inline bool says(Error const& error, std::string const& part) {
  UNSCOPED_INFO(error.what());
  return std::string{error.what()}.find(part) != std::string::npos;
}

}  // namespace coldpress::test
