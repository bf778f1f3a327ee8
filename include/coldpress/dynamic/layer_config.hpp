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
constexpr auto spellings(DimCheckMode) { return std::array<std::string_view, 2>{"strict", "permissive"}; }

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
/// Which alternative it is; none: how many there are.
template <class L, class... Types>
constexpr std::size_t place_of(std::variant<Types...> const*) {
  std::size_t place = 0;
  static_cast<void>(((std::is_same_v<L, Types> || (++place, false)) || ...));
  return place;
}
template <class>
struct VariantOf;
template <class... Types>
struct VariantOf<TypeList<Types...>> {
  using type = std::variant<Types...>;
};
}  // namespace detail

using AnyLoss = detail::VariantOf<BuiltinLosses>::type;
using AnyOptimizer = detail::VariantOf<BuiltinOptimizers>::type;

/// Everything a LayerConfig can describe: the built-in layers, losses and statistics, a container, or a layer of the
/// user's own. A std::variant, for std::visit and std::get. What copies, compares and destroys one of its many
/// alternatives is compiled once, in coldpress::dynamic, since it would take each program that includes this a second.
class LayerType
    : public detail::Alternatives<BuiltinLayers, BuiltinLosses, BuiltinStatistics, SequentialConfig, Custom>::type {
 public:
  template <class L>
  requires(detail::place_of<L>(static_cast<variant const*>(nullptr)) < std::variant_size_v<variant>) LayerType(L layer)
      : LayerType(detail::place_of<L>(static_cast<variant const*>(nullptr)), &layer) {}
  LayerType(LayerType const&);
  LayerType(LayerType&&) noexcept;
  LayerType& operator=(LayerType const&);
  LayerType& operator=(LayerType&&) noexcept;
  ~LayerType();
  friend bool operator==(LayerType const& a, LayerType const& b);

 private:
  LayerType(std::size_t alternative, void* layer);  // which is moved from
};

struct LayerConfig {
  std::string name;
  LayerType layer_type;
  std::vector<std::string> outputs = {};
  std::vector<std::string> inputs = {};
  std::vector<WeightConfig> params = {};
  std::vector<bool> propagate_down = {};

  LayerConfig(std::string given_name, LayerType type);
  /// A layer of the user's own.
  template <coldpress::Layer L>
  requires(!std::is_constructible_v<LayerType, L const&>) LayerConfig(std::string given_name, L const& layer)
      : LayerConfig(std::move(given_name), custom_of(layer)) {}
  LayerConfig(LayerConfig const&);
  LayerConfig(LayerConfig&&) noexcept;
  LayerConfig& operator=(LayerConfig const&);
  LayerConfig& operator=(LayerConfig&&) noexcept;
  ~LayerConfig();
  bool operator==(LayerConfig const&) const;
};

/// The name of the alternative that a LayerType holds: "linear", "sequential", or a Custom's own.
std::string type_name(LayerType const& type);

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
