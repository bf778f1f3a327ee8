// A network as run-time data: Juice's LayerConfig, with its names.
#pragma once

#include <coldpress/dynamic/custom.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/optim/policies.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coldpress {

/// How a network is read from a file.
struct LoadOptions {
  bool cuda_filters = false;  // rotates filters by 180 degrees, for networks that Juice trained on CUDA
  std::optional<Shape> input =
      {};  // the shape of one sample, if not the file's: for example, a sequence of another length
};

}  // namespace coldpress

namespace coldpress::dynamic {

struct LayerConfig;

/// Which weights may be shared under the same name: those of equal shape, or those with equally many values.
enum class DimCheckMode { strict, permissive };
constexpr auto spellings(DimCheckMode) { return std::array<std::string_view, 2>{"strict", "permissive"}; }

/// The options of one weight of a layer, in the order of the layer's weights.
struct WeightConfig {
  std::string name = {};
  std::optional<Filler> filler = {};  // this and those below replace the layer's own, if set
  std::optional<float> lr_mult = {};
  std::optional<float> decay_mult = {};
  Regularizer regularizer = Regularizer::own;  // own: the layer's
  std::optional<MaxNorm> max_norm = {};
  DimCheckMode share_mode = DimCheckMode::strict;
  bool operator==(WeightConfig const&) const = default;
};

/// An input of a container. `shape` is that of one sample. The batch size that Juice's files put before it is kept only
/// to be written again.
struct ShapedInput {
  std::string name;
  Shape shape;
  bool operator==(ShapedInput const&) const = default;
};

struct SequentialConfig {
  static constexpr std::string_view name = "sequential";
  std::vector<LayerConfig> layers;
  std::vector<ShapedInput> inputs;  // empty: the data determines it
  bool force_backward = false;      // whether training steps compute the inputs' gradients, too

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
/// The index of an alternative, or the number of alternatives if it is not one.
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

using AnyLoss = detail::VariantOf<BuiltinLosses::Plain>::type;
using AnyOptimizer = detail::VariantOf<BuiltinOptimizers>::type;

/// Everything that a LayerConfig can describe: the built-in layers, losses and statistics, a container, or a custom
/// layer. It is a std::variant, for std::visit and std::get. The functions that copy, compare and destroy its many
/// alternatives are compiled once, in coldpress::dynamic, because they would cost each program that includes this a
/// second.
class LayerType : public detail::Alternatives<BuiltinLayers::Plain, BuiltinLosses::Plain, BuiltinStatistics::Plain,
                                              SequentialConfig, Custom>::type {
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
  LayerType(std::size_t alternative, void* layer);  // moves from `layer`
};

struct LayerConfig {
  std::string name;
  LayerType layer_type;
  std::vector<std::string> outputs = {};
  std::vector<std::string> inputs = {};
  std::vector<WeightConfig> params = {};
  std::vector<bool> propagate_down = {};

  LayerConfig(std::string given_name, LayerType type);
  /// A custom layer.
  template <class L>
  requires(!std::is_constructible_v<LayerType, L const&> && (coldpress::Layer<L> || NeverCustom<L>))
      LayerConfig(std::string given_name, L const& layer)
      : LayerConfig(std::move(given_name), custom_of(layer)) {}
  LayerConfig(LayerConfig const&);
  LayerConfig(LayerConfig&&) noexcept;
  LayerConfig& operator=(LayerConfig const&);
  LayerConfig& operator=(LayerConfig&&) noexcept;
  ~LayerConfig();
  bool operator==(LayerConfig const&) const;
};

/// The name of the alternative that a LayerType holds: "linear", "sequential", or the type's name of a Custom.
std::string type_name(LayerType const& type);

/// How a network is trained: Juice's SolverConfig with its defaults.
struct SolverConfig {
  std::string name = {};
  std::optional<LayerConfig> network = {};
  std::optional<LayerConfig> objective = {};
  AnyOptimizer solver = Sgd{};               // its learning rate and momentum are base_lr and momentum below
  std::optional<Index> minibatch_size = {};  // unset: that of each call
  Policy lr_policy = policy::Fixed{};
  float base_lr = 0.01f;
  float momentum = 0;                        // for Sgd and Nesterov
  Policy momentum_policy = policy::Fixed{};  // likewise
  std::optional<float> clip_gradients = {};  // the largest norm of all gradients together
  std::optional<float> clip_values = {};     // the largest magnitude of each number of the mean gradient
  std::optional<float> weight_decay = {};
  Regularization regularization_method = Regularization::l2;
  Index accumulate = 1;                   // minibatches per update: Caffe's iter_size
  std::optional<Index> microbatch = {};   // samples that are computed at once; unset: all of a minibatch
  bool sync_batch_normalization = false;  // statistics of the whole minibatch, and not of these samples
  bool bfloat16_gradients = false;        // rounds those of the parts, and their sums, for the way between processes
  bool shard_optimizer = false;           // whether processes divide the optimizer's state; no part of a checkpoint
  bool operator==(SolverConfig const&) const = default;
};

/// Throws ConfigError, which names the field, if a number is not valid.
void check_numbers(SolverConfig const& config);
/// Throws ConfigError if the filler is none, or if one of its numbers is not valid.
void check_filler(Filler const& filler);

}  // namespace coldpress::dynamic
