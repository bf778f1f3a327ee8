// What stands behind dynamic::Layer: a network that was built from a config, or a static one in disguise.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/optim/optimizers.hpp>

#include <span>

namespace coldpress::dynamic {

/// Dropout acts and backward is possible only in training, which is the default, as in Juice.
enum class Mode { training, inference };

namespace detail {
template <class>
struct VariantOf;
template <class... Types>
struct VariantOf<TypeList<Types...>> {
  using type = std::variant<Types...>;
};
}  // namespace detail

using AnyLoss = detail::VariantOf<BuiltinLosses>::type;
using AnyOptimizer = detail::VariantOf<BuiltinOptimizers>::type;

/// How a solver trains; see SolverConfig.
struct TrainingOptions {
  AnyOptimizer optimizer;
  Index minibatch_size = 0;  // 0: the samples of each call
  float clip_gradients = 0;  // 0: none
};

/// Spans hold samples one after another; a returned one lives until the next call. Shapes are those of one sample.
class Executable {
 public:
  virtual ~Executable() = default;

  virtual Shape input_shape() const = 0;
  virtual Shape output_shape() const = 0;

  struct Weight {
    std::string name;
    Shape shape;
    std::string other_name = {};  // what a WeightConfig calls it; files may use either
  };
  virtual std::vector<Weight> const& weights() const = 0;
  /// The buffers that are laid out like the parameters: 0 the parameters, 1 the gradients, 2 and on the optimizer's
  /// state.
  static constexpr int data = 0, gradient = 1, state = 2;
  virtual void read(int buffer, int weight, std::span<float> values) const = 0;
  virtual void write(int buffer, int weight, std::span<float const> values) = 0;
  virtual void clear(int buffer) = 0;

  /// The samples must stay until backward is done.
  virtual std::span<float const> forward(std::span<float const> x, Mode mode) = 0;
  /// The next part of a sequence, in inference: layers with a memory go on where the last call ended, until reset().
  virtual std::span<float const> stream(std::span<float const> x) = 0;
  virtual void reset() = 0;
  virtual std::span<float const> backward_input(std::span<float const> dy) = 0;
  virtual void backward_parameters() = 0;
  /// parameters <- parameters - gradients
  virtual void subtract_gradients() = 0;

  /// One step; returns the mean loss before it. output() then has the network's outputs.
  virtual float train_minibatch(std::span<float const> x, std::span<float const> targets, AnyLoss const& loss,
                                TrainingOptions const& options) = 0;
  virtual std::span<float const> output() const = 0;

  /// Training steps done so far: the position in Dropout's random stream.
  virtual std::uint64_t step() const = 0;
  virtual void set_step(std::uint64_t step) = 0;
  virtual std::uint64_t seed() const = 0;
};

}  // namespace coldpress::dynamic
