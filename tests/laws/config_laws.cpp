#include "laws/config_laws.hpp"

#include "laws/config_networks.hpp"

namespace coldpress::test {
namespace {

using namespace testing;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

LayerUnderTest under_test(LayerConfig const& config) {
  return {.exact = [=](std::uint64_t seed) { return exact_of(config, seed); },
          .fast = [=](std::uint64_t seed) { return fast_of(config, seed); },
          .trained = ConfigTraining{config, LayerConfig{"loss", MeanSquaredError{}}}};
}

Shape const sample{5};

/// The layer between dense ones, and the three parts of that network.
LayerUnderTest alone(dynamic::LayerType const& layer, Shape const& in) {
  LayerConfig const before{"before", Linear{in.size()}}, shape{"shape", Reshape{in}}, own{"layer", layer},
      after{"after", Linear{3}};
  LayerConfig const whole = sequential({before, shape, own, after}, sample);
  Shape const out = output_shape(sequential({own}, in));
  LayerUnderTest network = under_test(whole);
  network.fusion = [=](std::uint64_t seed) {
    return Fusion{fast_of(whole, seed),
                  {std::make_unique<FastConfig>(sequential({before, shape}, sample), seed),
                   std::make_unique<FastConfig>(sequential({own}, in), seed),
                   std::make_unique<FastConfig>(sequential({after}, out), seed)}};
  };
  return network;
}
/// A layer of several inputs, each of which is a Linear of the network's input.
LayerUnderTest joining(dynamic::LayerType const& layer, std::vector<Shape> const& shapes) {
  SequentialConfig graph;
  graph.add_input("data", sample);
  std::vector<std::string> joined;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    std::string const number = std::to_string(k);
    graph.add_layer(wired({"before-" + number, Linear{shapes[k].size()}}, {"data"}, "before-" + number));
    graph.add_layer(wired({"shape-" + number, Reshape{shapes[k]}}, {"before-" + number}, "x-" + number));
    joined.push_back("x-" + number);
  }
  graph.add_layer(wired({"layer", layer}, joined, "joined"));
  graph.add_layer(wired({"after", Linear{3}}, {"joined"}, "y"));
  return under_test({"network", graph});
}

/// What the laws need to know of the layer's type.
struct Type {
  bool one_input, pointwise;
  dynamic::LayerType (*copy)(void const* layer);
  bool (*by_sample)(void const* layer, Shapes in);
};
template <class... Types>
Type const& type_of(TypeList<Types...>, int number) {
  static constexpr Type all[] = {
      {OneInput<Types>, PointwiseLayer<Types>,
       [](void const* layer) { return dynamic::LayerType{*static_cast<Types const*>(layer)}; },
       [](void const* layer, Shapes in) { return is_by_sample(*static_cast<Types const*>(layer), in); }}...};
  return all[number];
}

}  // namespace

dynamic::LayerType copied(BuiltinLayer layer) { return type_of(BuiltinLayers::Plain{}, layer.type).copy(layer.value); }

Violations violations_of_config(BuiltinLayer given, std::vector<Shape> const& shapes) {
  Violations found;
  Type const& type = type_of(BuiltinLayers::Plain{}, given.type);
  auto const layer = copied(given);
  auto const check = [&](Shape const& in, std::uint64_t seed) {
    auto network = alone(layer, in);
    network.by_sample = type.by_sample(given.value, {&in, 1});
    check_laws(network, law_batches(seed), seed, found);
  };
  if (!type.one_input) {
    auto network = joining(layer, shapes);
    network.by_sample = type.by_sample(given.value, {shapes.data(), shapes.size()});
    check_laws(network, several_inputs_batches, 400, found);
  } else if (!shapes.empty()) {
    std::uint64_t seed = 300;
    for (Shape const& in : shapes) check(in, seed += 50);
  } else {
    check({3, 5, 7}, 200), check({71}, 100);
    for (int n = 0; n < (type.pointwise ? 6 : 20); ++n) {
      auto const seed = static_cast<std::uint64_t>(n);
      gradient_law(*exact_of(sequential({{"layer", layer}}, law_shape(n)), seed), 1 + n % 4 * 2, seed, found);
    }
  }
  return found;
}

}  // namespace coldpress::test
