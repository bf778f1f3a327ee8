// What stands behind dynamic::Layer: a network that was built from a config, or a static one in disguise.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/dynamic/shared_tensor.hpp>
#include <coldpress/optim/update.hpp>

#include <span>
#include <string>

namespace coldpress::dynamic {

/// Dropout acts and backward is possible only in training, which is the default, as in Juice.
enum class Mode { training, inference };

/// What a network is trained for: a loss, and layers before it that are no part of the network.
struct Objective {
  std::vector<LayerType> layers = {};
  AnyLoss loss = {};
  bool operator==(Objective const&) const = default;
};

/// The shape of a sample that the loss compares, where the network makes `shape`. Throws ShapeError.
Shape loss_input(Objective const& objective, Shape shape);

/// Samples one after another.
using Values = std::span<float const>;
/// Of each input of a pass where a device has it, and null where the host does; null alone: the host has all.
using Homes = SharedTensor::Home* const*;

/// How a solver trains; see SolverConfig.
struct TrainingOptions : SolverOptions {
  AnyOptimizer optimizer;
  Index minibatch_size = 0;  // 0: the samples of each call
};

/// Gradients and what comes of them; see Executable.
class Training {
 public:
  virtual ~Training() = default;
  virtual std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes homes) = 0;
  virtual void backward_parameters() = 0;
  virtual void subtract_gradients() = 0;
  virtual void train_minibatch(std::span<Values const> inputs, Values targets,
                               std::optional<Objective> const& objective, TrainingOptions const& options,
                               Progress& progress, Homes homes) = 0;
};
/// Whoever calls it links the code that trains networks from configs; other programs are smaller without.
void link_training();

/// Inputs and outputs have an order. A returned span lives until the next call. Shapes are those of one sample.
class Executable {
 public:
  virtual ~Executable() = default;

  /// The device whose memory it computes in, and where what calls with homes return is until outputs() or
  /// input_gradients() bring it over; empty: it is the host's.
  std::string const& device() const { return device_; }

  virtual std::span<Shape const> input_shapes() const = 0;
  virtual std::span<Shape const> output_shapes() const = 0;

  struct Weight {
    std::string name;
    Shape shape;
    std::string other_name = {};            // what a WeightConfig calls it; files may use either
    std::vector<std::string> aliases = {};  // the names that layers which share it would give it
    std::vector<std::string> layers = {};   // that have it
    float lr_mult = 1;
  };
  virtual std::vector<Weight> const& weights() const = 0;
  /// The buffers that are laid out like the parameters: 0 the parameters, 1 the gradients, 2 and on the optimizer's
  /// state.
  static constexpr int data = 0, gradient = 1, state = 2;
  virtual void read(int buffer, int weight, std::span<float> values) const = 0;
  virtual void write(int buffer, int weight, std::span<float const> values) = 0;
  virtual void clear(int buffer) = 0;
  /// Whether no value of a weight is infinite or NaN.
  virtual bool is_finite() const = 0;
  /// Training steps and subtract_gradients leave a frozen weight, and its optimizer's state, as they are.
  virtual void set_frozen(int weight, bool frozen) = 0;

  /// Room for so many samples: nothing is allocated for fewer, or as many, in forward in this mode and in backward
  /// after it, nor in stream.
  virtual void reserve(Index batch, Mode mode) = 0;
  /// The samples must stay until backward is done.
  virtual std::span<Values const> forward(std::span<Values const> inputs, Mode mode, Homes homes) = 0;
  /// The next part of a sequence, in inference: layers with a memory go on where the last call ended, until reset().
  virtual std::span<Values const> stream(std::span<Values const> inputs) = 0;
  virtual void reset() = 0;
  /// From the gradients of all outputs to those of all inputs.
  std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes homes) {
    return training().backward_input(output_gradients, homes);
  }
  void backward_parameters() { training().backward_parameters(); }
  /// parameters <- parameters - gradients, but for statistics
  void subtract_gradients() { training().subtract_gradients(); }

  /// One step for the losses in the network, and the objective of the first output where there is one; where the host
  /// finds their sum infinite or NaN, no step is taken and `progress` stays as it is. outputs() then
  /// has the network's outputs, losses() each loss before the step with its name, and where the update was not fused,
  /// the gradients are those of the minibatches that `progress` counts. A GPU may still be at it: what reads any of
  /// these waits, and brings it over once. `homes`: of the inputs and then of the targets.
  void train_minibatch(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
                       TrainingOptions const& options, Progress& progress, Homes homes) {
    training().train_minibatch(inputs, targets, objective, options, progress, homes);
  }
  /// forward in inference that also looks at the network's losses and statistics.
  virtual std::span<Values const> evaluate(std::span<Values const> inputs, Homes homes) = 0;
  /// Each statistic of the network, and the mean of each of its losses, with its name: over the samples of training
  /// steps, or in inference of evaluate, since the last reset. NaN before the first.
  virtual std::vector<std::pair<std::string, double>> statistics(Mode mode) const = 0;
  virtual void reset_statistics(Mode mode) = 0;
  virtual bool has_losses() const = 0;  // in the network itself
  virtual std::vector<std::pair<std::string, float>> const& losses() const = 0;
  /// Their sum.
  float loss() const {
    float sum = 0;
    for (auto const& [name, mean] : losses()) sum += mean;
    return sum;
  }
  /// The home of values that stay on the device, for passes to read; null: passes read the host's.
  virtual std::shared_ptr<SharedTensor::Home> upload(Values) { return nullptr; }
  /// Those of the last call, where the host reads them.
  virtual std::span<Values const> outputs() const = 0;
  /// Those of the last backward_input, or of a training step where force_backward asks for them; else none.
  virtual std::span<Values const> input_gradients() const = 0;
  /// The same as they are, for tensors: output k of the last call; and from k = the number of outputs on the input
  /// gradients, without values where there are none.
  struct Made {
    Values values;
    std::shared_ptr<SharedTensor::Home> home = nullptr;  // of values that are on a device
  };
  virtual Made made(std::size_t k) const = 0;

  /// Forward passes in training done so far: the position in Dropout's random stream.
  virtual std::uint64_t step() const = 0;
  virtual void set_step(std::uint64_t step) = 0;
  virtual std::uint64_t seed() const = 0;

  // From the host and to the host.
  std::span<Values const> forward(std::span<Values const> inputs, Mode mode) {
    auto const made = forward(inputs, mode, nullptr);
    return device_.empty() ? made : outputs();
  }
  std::span<Values const> evaluate(std::span<Values const> inputs) { return evaluate(inputs, nullptr), outputs(); }
  std::span<Values const> backward_input(std::span<Values const> output_gradients) {
    return backward_input(output_gradients, nullptr), input_gradients();
  }
  // For networks with one input and one output.
  Shape input_shape() const { return input_shapes()[0]; }
  Shape output_shape() const { return output_shapes()[0]; }
  Values forward(Values x, Mode mode) { return forward(std::span{&x, 1}, mode)[0]; }
  Values backward_input(Values dy) { return backward_input(std::span{&dy, 1})[0]; }
  Values output() const { return outputs()[0]; }

 protected:
  explicit Executable(std::string device = {}) : device_(std::move(device)) {}
  /// What trains this network. It is asked for after link_training().
  virtual Training& linked_training() = 0;

 private:
  Training& training() {
    link_training();
    return linked_training();
  }
  std::string device_;
};

/// The layers one after the other, computed by the named backend, for samples of shape `in`.
std::unique_ptr<Executable> make_executable(std::string const& backend, std::vector<LayerType> const& layers, Shape in);

}  // namespace coldpress::dynamic
