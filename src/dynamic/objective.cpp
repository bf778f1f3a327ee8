// Finds the loss at the end of an objective, and refuses layers before it that have weights or several inputs.
#include "objective.hpp"

#include <algorithm>

namespace coldpress::dynamic {
namespace {

/// The loss of a config; throws ConfigError if the config is not a loss.
AnyLoss loss_of(LayerConfig const& config) {
  return std::visit(
      [&](auto const& type) -> AnyLoss {
        if constexpr (Loss<std::remove_cvref_t<decltype(type)>>) {
          return type;
        } else {
          throw ConfigError{"an objective ends in a loss; '" + config.name + "' is a " + type_name(config.layer_type)};
        }
      },
      config.layer_type);
}

void collect(LayerConfig const& config, std::vector<LayerConfig const*>& layers) {
  if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
    for (LayerConfig const& child : container->layers) collect(child, layers);
  } else {
    layers.push_back(&config);
  }
}

template <class L>
constexpr bool has_weights = false;
template <coldpress::Layer L>
constexpr bool has_weights<L> = has_parameters<L>;
template <>
constexpr bool has_weights<Custom> = true;  // it may have some

/// Checks a layer before the loss: it must read the output of the layer before it, and have no weights.
void check_layer(LayerConfig const& config, std::string const& targets) {
  if (!targets.empty() && std::find(config.inputs.begin(), config.inputs.end(), targets) != config.inputs.end())
    throw ConfigError{"only the loss reads the targets '" + targets + "'"};
  std::visit(
      [](auto const& layer) {
        using L = std::remove_cvref_t<decltype(layer)>;
        if constexpr (Loss<L>) {
          throw ConfigError{"an objective has one loss, at its end"};
        } else if constexpr (std::is_same_v<L, Custom>) {
          throw UnsupportedError{"'" + layer.type +
                                 "' belongs to the network: the layers of an objective are built in"};
        } else if constexpr (!OneInput<L>) {
          throw ConfigError{"belongs to the network: the layers of an objective have one input"};
        } else if constexpr (has_parameters<L>) {
          throw ConfigError{"a layer with weights belongs to the network: an objective is not trained"};
        }
      },
      config.layer_type);
}

}  // namespace

bool is_objective(LayerConfig const& config) {
  std::vector<LayerConfig const*> layers;
  collect(config, layers);
  auto const visit = [](LayerConfig const& layer, auto f) { return std::visit(f, layer.layer_type); };
  bool const learns = std::any_of(layers.begin(), layers.end(), [&](LayerConfig const* layer) {
    return visit(*layer, [](auto const& type) { return has_weights<std::remove_cvref_t<decltype(type)>>; });
  });
  return !layers.empty() && !learns &&
         visit(*layers.back(), [](auto const& type) { return Loss<std::remove_cvref_t<decltype(type)>>; });
}

Objective objective_of(LayerConfig const& config) {
  std::vector<LayerConfig const*> layers;
  collect(config, layers);
  if (layers.empty()) throw ConfigError{"an objective ends in a loss; '" + config.name + "' has no layers"};
  std::string targets;
  if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
    if (container->inputs.size() > 2)
      throw ConfigError{"an objective has two inputs, the network's output and the targets"};
    if (container->inputs.size() == 2) targets = container->inputs[1].name;
  }
  Objective objective;
  for (LayerConfig const* layer : layers) {
    coldpress::with_context(
        [&] {
          if (layer == layers.back()) {
            objective.loss = loss_of(*layer);
          } else {
            check_layer(*layer, targets);
            objective.layers.push_back(layer->layer_type);
          }
        },
        [&](Error& e) { e.in_layer(layer->name); });
  }
  return objective;
}

}  // namespace coldpress::dynamic
