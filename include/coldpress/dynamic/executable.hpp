// The interface behind dynamic::Layer, for networks that are built from configs and for static ones.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/dynamic/shared_tensor.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/run/stream.hpp>
#include <coldpress/run/update.hpp>

#include <span>
#include <string>

namespace coldpress::dynamic {

/// Dropout is active and backward is possible only in training, which is the default, as in Juice.
enum class Mode { training, inference };

/// What a network is trained for: a loss, and layers before it that are not part of the network.
struct Objective {
  std::vector<LayerType> layers = {};
  AnyLoss loss = {};
  bool operator==(Objective const&) const = default;
};

/// The shape of the samples that the loss compares, for a network with outputs of `shape`. Throws ShapeError.
Shape loss_input(Objective const& objective, Shape shape);

/// Samples one after another.
using Values = std::span<float const>;
/// For each input of a pass, where a device has it, or null if the host has it. A null pointer means that the host has
/// all inputs.
using Homes = SharedTensor::Home* const*;

/// How a solver trains; see SolverConfig.
struct TrainingOptions : SolverOptions {
  AnyOptimizer optimizer;
  Index minibatch_size = 0;              // 0: that of each call
  Communicator* communicator = nullptr;  // see Solver::distribute_over
};

/// The functions for gradients and training; see Executable.
class Training {
 public:
  virtual ~Training() = default;
  virtual std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes homes) = 0;
  virtual void backward_parameters() = 0;
  virtual void subtract_gradients() = 0;
  virtual void train_minibatch(std::span<Values const> inputs, Values targets,
                               std::optional<Objective> const& objective, TrainingOptions const& options,
                               Progress& progress, Homes homes) = 0;
  /// See Solver::gather_state.
  virtual void gather_state([[maybe_unused]] TrainingOptions const& options, [[maybe_unused]] int states,
                            [[maybe_unused]] bool waiting, [[maybe_unused]] bool on_all_ranks) {}
};
/// Link the code that trains networks from configs, and that for streams in blocks. Programs that never call them are
/// smaller.
void link_training();
void link_streams();

/// A network that can be run. Inputs and outputs are in order. A returned span is valid until the next call. Shapes are
/// those of one sample.
class Executable : public std::enable_shared_from_this<Executable> {
 public:
  virtual ~Executable() = default;

  /// The device whose memory the network computes in; empty for the host. The results of calls with homes stay there
  /// until outputs() or input_gradients() copy them to the host.
  std::string const& device() const { return device_; }

  virtual std::span<Shape const> input_shapes() const = 0;
  virtual std::span<Shape const> output_shapes() const = 0;

  struct Weight {
    std::string name;
    Shape shape;
    std::string other_name = {};            // the name in its WeightConfig; files may use either
    std::vector<std::string> aliases = {};  // the names that it would have in the other layers that share it
    std::vector<std::string> layers = {};   // the layers that have this weight
    float lr_mult = 1;
    bool is_statistic = false;  // a running statistic, which has no gradient
  };
  virtual std::vector<Weight> const& weights() const = 0;
  /// The buffers with the layout of the parameters: 0 is the parameters, 1 the gradients, 2 and up the optimizer's
  /// state. Reading or writing one throws UnsupportedError if each rank has a share of it (Solver::gather_state).
  static constexpr int data = 0, gradient = 1, state = 2;
  virtual void read(int buffer, int weight, std::span<float> values) const = 0;
  virtual void write(int buffer, int weight, std::span<float const> values) = 0;
  /// Sets a buffer to zero; if ranks divide the states, all of them.
  virtual void clear(int buffer) = 0;
  /// Whether all weights are finite.
  virtual bool is_finite() const = 0;
  /// Freezes a weight: training steps and subtract_gradients then change neither it nor its optimizer's state.
  virtual void set_frozen(int weight, bool frozen) = 0;

  /// Reserves memory for this many samples: up to that number nothing is allocated in forward in this mode, in backward
  /// after it, or in stream, unless results of the network are given to them.
  virtual void reserve(Index batch, Mode mode) = 0;
  /// The samples must exist until backward has returned.
  virtual std::span<Values const> forward(std::span<Values const> inputs, Mode mode, Homes homes) = 0;
  /// Computes the next part of a sequence, in inference mode. Layers with a state continue where the last call ended,
  /// until reset().
  virtual std::span<Values const> stream(std::span<Values const> inputs) = 0;
  virtual void reset() = 0;
  /// A stream in blocks of steps, which has a state of its own; see dynamic::Stream. It is called after link_streams().
  virtual std::unique_ptr<StreamPasses<float>> stream_passes(Index most) = 0;
  /// Computes the gradients of all inputs from those of all outputs.
  std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes homes) {
    return training().backward_input(output_gradients, homes);
  }
  void backward_parameters() { training().backward_parameters(); }
  /// Computes parameters <- parameters - gradients, except for running statistics.
  void subtract_gradients() { training().subtract_gradients(); }

  /// Takes one training step for the losses in the network and, if given, the objective of the first output. If the
  /// host finds that the loss is infinite or NaN, no step is taken, and `progress` does not change. Afterwards
  /// outputs() are the network's outputs, and losses() are the losses before the step, with their names. If the update
  /// was not fused, the gradients are those of the minibatches that `progress` counts. A GPU may still be computing:
  /// functions that read any of these results wait, and copy them once. `homes` are those of the inputs, followed by
  /// that of the targets.
  void train_minibatch(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
                       TrainingOptions const& options, Progress& progress, Homes homes) {
    training().train_minibatch(inputs, targets, objective, options, progress, homes);
  }
  void gather_state(TrainingOptions const& options, int states, bool waiting, bool on_all_ranks) {
    training().gather_state(options, states, waiting, on_all_ranks);
  }
  /// Forward in inference mode that also computes the network's losses and statistics.
  virtual std::span<Values const> evaluate(std::span<Values const> inputs, Homes homes) = 0;
  /// Each statistic of the network and the mean of each of its losses, with its name: over the samples since the last
  /// reset that were in training steps or, with Mode::inference, in evaluate. They are NaN before the first sample.
  std::vector<std::pair<std::string, double>> statistics(Mode mode) const { return statistics_of(sums(mode)); }
  /// The sums from which they are made. Those of several passes may be added up.
  virtual std::vector<double> sums(Mode mode) const = 0;
  virtual std::vector<std::pair<std::string, double>> statistics_of(std::span<double const> sums) const = 0;
  virtual void reset_statistics(Mode mode) = 0;
  virtual bool has_losses() const = 0;  // whether the network itself has losses
  virtual std::vector<std::pair<std::string, float>> const& losses() const = 0;
  /// The sum of the losses.
  float loss() const {
    float sum = 0;
    for (auto const& [name, mean] : losses()) sum += mean;
    return sum;
  }
  /// The home of a copy of the values that stays on the device; null: passes read the values on the host.
  virtual std::shared_ptr<SharedTensor::Home> upload(Values) { return nullptr; }
  /// The outputs of the last call, in the host's memory.
  virtual std::span<Values const> outputs() const = 0;
  /// The input gradients of the last backward_input, or of a training step if the config says force_backward; otherwise
  /// none.
  virtual std::span<Values const> input_gradients() const = 0;
  /// The same for tensors, without a copy to the host. For k below the number of outputs, it is output k of the last
  /// call; from there on, it is the input gradients, without values if there are none.
  struct Made {
    Values values;
    std::shared_ptr<SharedTensor::Home> home = nullptr;  // the home of values that are on a device
  };
  virtual Made made(std::size_t k) const = 0;

  /// The number of forward passes in training so far, which is the position in Dropout's random stream.
  virtual std::uint64_t step() const = 0;
  virtual void set_step(std::uint64_t step) = 0;
  virtual std::uint64_t seed() const = 0;
  /// Another network of the same layers, with weights of zero, that computes the same in the same place; null for an
  /// adapted network.
  virtual std::unique_ptr<Executable> another() const { return nullptr; }

  // The same with inputs and results in the host's memory.
  std::span<Values const> forward(std::span<Values const> inputs, Mode mode) {
    auto const made = forward(inputs, mode, nullptr);
    return device_.empty() ? made : outputs();
  }
  std::span<Values const> evaluate(std::span<Values const> inputs) { return evaluate(inputs, nullptr), outputs(); }
  std::span<Values const> backward_input(std::span<Values const> output_gradients) {
    return backward_input(output_gradients, nullptr), input_gradients();
  }
  // The same for networks with one input and one output.
  Shape input_shape() const { return input_shapes()[0]; }
  Shape output_shape() const { return output_shapes()[0]; }
  Values forward(Values x, Mode mode) { return forward(std::span{&x, 1}, mode)[0]; }
  Values backward_input(Values dy) { return backward_input(std::span{&dy, 1})[0]; }
  Values output() const { return outputs()[0]; }

 protected:
  explicit Executable(std::string device = {}) : device_(std::move(device)) {}
  /// The part that trains this network. It is called after link_training().
  virtual Training& linked_training() = 0;

 private:
  Training& training() {
    link_training();
    return linked_training();
  }
  std::string device_;
};

/// Makes a network of the layers in sequence, on the named backend, for samples of shape `in`.
std::unique_ptr<Executable> make_executable(std::string const& backend, std::vector<LayerType> const& layers, Shape in);

}  // namespace coldpress::dynamic
