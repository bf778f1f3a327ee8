#include "laws/config_laws.hpp"
#include "laws/config_networks.hpp"

namespace coldpress::test {

using namespace testing;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

namespace {

template <class... Types>
dynamic::LayerType copied(TypeList<Types...>, BuiltinLoss loss) {
  static constexpr dynamic::LayerType (*copy[])(void const*) = {
      [](void const* from) { return dynamic::LayerType{*static_cast<Types const*>(from)}; }...};
  return copy[loss.type](loss.value);
}
LayerConfig objective_of(BuiltinLoss loss) { return {"loss", copied(BuiltinLosses::Plain{}, loss)}; }

std::vector<LayerConfig> layers_of(LossConfig const& config) {
  std::vector<LayerConfig> layers;
  for (BuiltinLayer const& layer : config.layers)
    layers.emplace_back("layer-" + std::to_string(layers.size()), copied(layer));
  return layers;
}
LayerConfig network_of(LossConfig const& config) { return sequential(layers_of(config), config.in); }

LayerConfig network_of(HiddenLossConfig const& config) {
  SequentialConfig graph;
  graph.add_input("data", hidden_input);
  graph.add_layer(wired({"first", Linear{6}}, {"data"}, "sums"));
  graph.add_layer(wired({"second", TanH{}}, {"sums"}, "h"));
  graph.add_layer(wired({"before-y", Linear{config.values}}, {"h"}, "y-sums"));
  graph.add_layer(wired({"y", copied(config.tail)}, {"y-sums"}, "y"));
  graph.add_layer(wired({"before-t", Linear{config.values}}, {"h"}, "t-sums"));
  graph.add_layer(wired({"t", copied(config.target_tail)}, {"t-sums"}, "t"));
  LayerConfig loss = objective_of(config.loss);
  loss.inputs = {"y", "t"};
  graph.add_layer(loss);
  return {"network", graph};
}
ConfigTraining training_of(LossConfig const& config, LossUnderTest const& loss) {
  return {.network = network_of(config), .objective = objective_of(config.loss), .targets = loss.targets};
}

}  // namespace

std::unique_ptr<TestedLosses> losses_of_config(LossConfig const& config, std::uint64_t seed) {
  SequentialConfig graph;
  graph.add_input("x", config.in);
  std::string last = "x";
  for (LayerConfig& layer : layers_of(config)) {
    std::string const name = layer.name;
    graph.add_layer(wired(std::move(layer), {last}, name));
    last = name;
  }
  LayerConfig loss = objective_of(config.loss);
  graph.add_input("targets", config.targets);
  loss.inputs = {last, "targets"};
  graph.add_layer(loss);
  return exact_losses_of({"network", graph}, seed);
}
std::unique_ptr<TestedLosses> losses_of_config(HiddenLossConfig const& config, std::uint64_t seed) {
  return exact_losses_of(network_of(config), seed);
}

void loss_training_law(LossConfig const& config, LossUnderTest const& loss, Index batch, std::uint64_t seed,
                       Violations& violations) {
  auto const training = training_of(config, loss);
  training_law(training, config.in, batch, seed, violations);
  Random random{seed};
  auto const exact = losses_of_config(config, seed);
  auto const x = random.values<float>(batch * config.in.size());
  auto const targets = loss.targets(random, batch, exact->output);
  double const wanted = exact->loss_of({x.begin(), x.end()}, {targets.begin(), targets.end()});
  float const made = training(batch, seed, true)[0];
  double const by = excess(std::span{&made, 1}, std::span{&wanted, 1},
                           static_cast<double>(std::max({batch, config.in.size(), exact->output.size()})));
  demand(by <= 1, violations,
         "the loss is " + std::to_string(by) + " times the bound from the reference" + place_of(config.in, batch));
}
void loss_fusion_law(LossConfig const& config, LossUnderTest const& loss, Index batch, std::uint64_t seed,
                     Violations& violations) {
  auto const fused = [&](std::vector<float> const& x, std::vector<float> const& targets) {
    return training_of(config, loss).gradients(x, targets, seed);
  };
  auto const network = network_of(config);
  loss_fusion_law(loss, *fast_of(network, seed), *exact_of(network, seed), fused, batch, seed, violations);
}
void own_losses_law(HiddenLossConfig const& config, Index batch, std::uint64_t seed, Violations& violations) {
  ConfigTraining const training{
      .network = network_of(config), .rate = own_losses_rate, .momentum = 0, .outputs = false};
  own_losses_law(training(batch, seed, false), *losses_of_config(config, seed), config.values, batch, seed, violations);
}

}  // namespace coldpress::test
