// A network as run-time data: Juice's LayerConfig, with its names.
#pragma once

#include <coldpress/dynamic/custom.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/learning_rate.hpp>
#include <coldpress/optim/optimizers.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coldpress {

/// How a network is read from a file.
struct LoadOptions {
  bool cuda_filters = false;  // Juice trained it on CUDA, where filters are turned by 180 degrees: turn them back
  std::optional<Shape> input =
      {};  // of one sample, for a config of any network: sequences of another length, say {features}
};

}  // namespace coldpress

namespace coldpress::dynamic {

struct LayerConfig;

/// Which weights may be shared under one name: those of one shape, or of as many values.
enum class DimCheckMode { strict, permissive };

/// Options of one weight of a layer, in the order of the layer's weights.
struct WeightConfig {
  std::string name = {};
  std::optional<Filler> filler = {};  // this and what follows: instead of the layer's own
  std::optional<float> lr_mult = {};
  std::optional<float> decay_mult = {};
  Regularizer regularizer = Regularizer::own;  // own: the layer's
  std::optional<MaxNorm> max_norm = {};
  DimCheckMode share_mode = DimCheckMode::strict;
  bool operator==(WeightConfig const&) const = default;
};

/// An input of a container. `shape` is that of one sample; the batch that Juice's files put before it is kept only to
/// be written again.
struct ShapedInput {
  std::string name;
  Shape shape;
  bool operator==(ShapedInput const&) const = default;
};

struct SequentialConfig {
  static constexpr std::string_view name = "sequential";
  std::vector<LayerConfig> layers;
  std::vector<ShapedInput> inputs;  // none: the data says
  bool force_backward = false;

  SequentialConfig& add_layer(LayerConfig layer);
  SequentialConfig& add_input(std::string input, Shape shape);
  bool operator==(SequentialConfig const&) const = default;
};

namespace detail {
template <class, class, class, class... More>
struct Alternatives;
template <class... Layers, class... Losses, class... Statistics, class... More>
struct Alternatives<TypeList<Layers...>, TypeList<Losses...>, TypeList<Statistics...>, More...> {
  using type = std::variant<Layers..., Losses..., Statistics..., More...>;
};
template <class>
struct VariantOf;
template <class... Types>
struct VariantOf<TypeList<Types...>> {
  using type = std::variant<Types...>;
};
}  // namespace detail

using AnyLoss = detail::VariantOf<BuiltinLosses>::type;
using AnyOptimizer = detail::VariantOf<BuiltinOptimizers>::type;

/// Everything a LayerConfig can describe: the built-in layers, losses and statistics, a container, or a stranger.
using LayerType = detail::Alternatives<BuiltinLayers, BuiltinLosses, BuiltinStatistics, SequentialConfig, Custom>::type;

struct LayerConfig {
  std::string name;
  LayerType layer_type;
  std::vector<std::string> outputs = {};
  std::vector<std::string> inputs = {};
  std::vector<WeightConfig> params = {};
  std::vector<bool> propagate_down = {};

  LayerConfig(std::string given_name, LayerType type) : name(std::move(given_name)), layer_type(std::move(type)) {}
  /// A layer of the user's own.
  template <coldpress::Layer L>
  requires(!std::is_constructible_v<LayerType, L const&>) LayerConfig(std::string given_name, L const& layer)
      : LayerConfig(std::move(given_name), custom_of(layer)) {}
  bool operator==(LayerConfig const&) const = default;
};

/// The name of the alternative that a LayerType holds: "linear", "sequential", or a Custom's own.
inline std::string type_name(LayerType const& type) {
  return std::visit(
      [](auto const& layer) -> std::string {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(layer)>, Custom>) {
          return layer.type;
        } else {
          return std::string{layer.name};
        }
      },
      type);
}

inline SequentialConfig& SequentialConfig::add_layer(LayerConfig layer) {
  layers.push_back(std::move(layer));
  return *this;
}
inline SequentialConfig& SequentialConfig::add_input(std::string input, Shape shape) {
  inputs.push_back({std::move(input), shape});
  return *this;
}

/// How a network is trained; Juice's SolverConfig and its defaults.
struct SolverConfig {
  std::string name = {};
  std::optional<LayerConfig> network = {};
  std::optional<LayerConfig> objective = {};
  AnyOptimizer solver = Sgd{};               // but for its learning rate and momentum: these are base_lr and momentum
  std::optional<Index> minibatch_size = {};  // unset: the samples of each call
  LRPolicy lr_policy = lr::Fixed{};
  float base_lr = 0.01f;
  float momentum = 0;  // of Sgd and Nesterov
  std::optional<float> clip_gradients = {};
  std::optional<float> weight_decay = {};
  Regularization regularization_method = Regularization::l2;
  Index accumulate = 1;  // minibatches in an update: Caffe's iter_size
  bool operator==(SolverConfig const&) const = default;
};

/// Throws ConfigError, which names the field, for a number that makes no sense.
void check_numbers(SolverConfig const& config);

}  // namespace coldpress::dynamic
