// Layer, with the interface of Juice's: a network, or one layer of one, with its type erased.
#pragma once

#include <coldpress/dynamic/backend.hpp>
#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/shared_tensor.hpp>

#include <functional>

namespace coldpress::dynamic {

class Layer {
 public:
  /// Builds the network that a config describes, with weights initialised by their fillers and the seed. `input` is the
  /// shape of one sample, if the config does not give it. Throws ConfigError, ShapeError or UnsupportedError with the
  /// layer's name.
  static Layer from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input = {},
                           std::uint64_t seed = 0);
  /// Returns the values of a network's weights, for their names and shapes. If it returns none, the weights are zero.
  using WeightValues = std::function<std::vector<Values>(std::vector<Executable::Weight> const&)>;
  /// The same with given weights. `weights` is called before the network allocates memory, so that it can refuse by
  /// throwing an exception. No filler runs.
  static Layer from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input, std::uint64_t seed,
                           WeightValues const& weights);
  /// Wraps a static network. An lvalue is borrowed and must outlive the layer; an rvalue is owned. If you change a
  /// borrowed network directly, call weights_changed() afterwards, and call send_weights() before you read weights from
  /// it that were written through tensors. See adapter.hpp.
  template <class Net>
  [[nodiscard]] static Layer adapt(Net&& net);
  /// Loads a network from a file that Juice or coldpress wrote, without its transforms of samples and names of classes,
  /// which persist::read_model returns. Throws as persist::read_model and persist::layer_of do. It is defined in
  /// coldpress::persist.
  static Layer load(Backend const& backend, std::string const& path, LoadOptions options = {});
  /// Writes the config and the weights as Juice does, and nothing else that the file it came from may have had: that
  /// takes persist::write_model. Throws as that does; then the old file remains. It is defined in coldpress::persist.
  void save(std::string const& path) const;

  Layer(LayerConfig config, std::unique_ptr<Executable> executable);
  Layer(Layer&&) noexcept;
  Layer& operator=(Layer&&) noexcept;
  ~Layer();

  LayerConfig const& config() const { return config_; }
  std::string const& name() const { return config_.name; }

  /// Computes the outputs. The inputs are in the order of the container's inputs, with any batch size as the first
  /// extent; they are kept until the next forward or evaluate. A loss, or a container that ends in one, takes
  /// predictions and targets. The outputs are in the order of the config's outputs and belong to the layer; the next
  /// call replaces them. A tensor that you keep retains its values. The outputs of a layer on a GPU stay there until
  /// they are read. Until they are written or destroyed, they and the layer must not be used by two threads at a time.
  /// Throws ShapeError for another number of inputs, or for one that is not a minibatch of samples of its shape; then
  /// nothing has changed.
  std::span<SharedTensor const> forward(std::span<SharedTensor const> inputs);
  std::span<SharedTensor const> forward(std::initializer_list<SharedTensor> inputs) {
    return forward(std::span{inputs.begin(), inputs.size()});
  }
  SharedTensor const& forward(SharedTensor const& input) { return forward(std::span{&input, 1})[0]; }
  /// Computes the gradients of the inputs, which are returned, and of the weights, from those of the outputs. A loss
  /// layer takes no gradients; it returns those of the predictions and, if its loss has one, of the targets. Throws
  /// ShapeError if there was no forward in training mode before, or for another number of gradients, or one that does
  /// not have the shape of its output.
  std::span<SharedTensor const> backward(std::span<SharedTensor const> output_gradients = {});
  SharedTensor const& backward(SharedTensor const& output_gradient) {
    return backward(std::span{&output_gradient, 1})[0];
  }
  std::span<SharedTensor const> backward_input(std::span<SharedTensor const> output_gradients = {});
  SharedTensor const& backward_input(SharedTensor const& output_gradient) {
    return backward_input(std::span{&output_gradient, 1})[0];
  }
  void backward_parameters();

  /// The input gradients of the last backward, or of a solver's step if the config says force_backward; otherwise none.
  std::span<SharedTensor const> input_gradients() const { return input_gradients_.now; }

  /// A copy of a tensor whose values stay on this network's GPU. It can be given to forward, evaluate, backward and a
  /// solver's train_minibatch any number of times, and these then copy nothing from the host. What checks need to know
  /// of the values is found out here, once. If it is written through read_write or write_only, it becomes a tensor of
  /// the host. For a network on the host, this returns the tensor itself.
  SharedTensor upload(SharedTensor const& tensor) const;

  /// The same for samples one after another, without tensors, for use where every nanosecond counts. `x` must exist
  /// until backward. The result is a view, as it is of predict and step: the next call may overwrite it or, for a
  /// larger batch, leave it dangling. Copy what has to last.
  Values forward(Values x) {
    send_weights();
    Values const y = executable().forward(x, mode_);
    kept_inputs_.clear();  // if forward throws, backward still reads those of the call before
    return y;
  }

  /// Forward in inference mode, whatever mode is set.
  Values predict(Values x) {
    send_weights();
    return executable().forward(x, Mode::inference);
  }

  /// Forward in inference mode, with all inputs, that also computes the network's losses and statistics. Throws
  /// DataError for labels that are not a class.
  std::span<SharedTensor const> evaluate(std::span<SharedTensor const> inputs);
  std::span<SharedTensor const> evaluate(std::initializer_list<SharedTensor> inputs) {
    return evaluate(std::span{inputs.begin(), inputs.size()});
  }
  /// Each statistic of the network and the mean of each of its losses, with its name, over the samples of all evaluate
  /// calls since the last reset. They are NaN before the first.
  std::vector<std::pair<std::string, double>> statistics() const { return executable().statistics(Mode::inference); }
  void reset_statistics() { executable().reset_statistics(Mode::inference); }

  /// Computes the next part of a sequence, in inference mode. Layers with a state continue where the last call ended. A
  /// sample has as many steps as the input shape says. Throws ShapeError if a layer needs the whole sequence at once,
  /// and if the batch size differs from that of the last call.
  Values step(Values x) {
    send_weights();
    return executable().stream({&x, 1})[0];
  }
  /// Makes the next step start a new sequence.
  void reset() { executable().reset(); }

  /// Reserves memory for `batch` samples: up to that number nothing is allocated in forward, predict and step and, in
  /// training mode, in backward, except for tensors that replace some that the caller still holds, and for copies of
  /// results that are inputs. Results that the last call returned by reference lose their values.
  void reserve(Index batch);

  /// Sets the mode. Dropout is active in training, which is the default.
  void set_mode(Mode mode) { mode_ = mode; }
  Mode mode() const { return mode_; }

  /// The weights in the order of the layers: W {out, in}, then b {1, out}, named linear1-0 and linear1-0-bias.
  std::vector<SharedTensor> const& learnable_weights_data() const { return weights_data_; }
  std::vector<SharedTensor> const& learnable_weights_gradients() const { return weights_gradients_; }
  std::vector<std::string> const& learnable_weights_names() const { return weights_names_; }
  /// The multipliers of the learning rate, in the same order.
  std::vector<std::optional<float>> learnable_weights_lr() const;
  /// Subtracts its gradient from every weight. The gradient must therefore already be the whole update. Running
  /// statistics do not change, as they are updated only by a solver.
  void update_weights();
  void clear_weights_gradients();
  /// Freezes weights: training steps and update_weights then change neither a frozen weight nor its optimizer's state
  /// nor its statistics, but gradients still pass through its layer. The name is that of a weight (linear1-0), or of a
  /// layer (linear1) for all its weights. Files do not store which weights are frozen. Throws ConfigError for an
  /// unknown name.
  void freeze(std::string const& name) { set_frozen(name, true); }
  void unfreeze(std::string const& name) { set_frozen(name, false); }
  void freeze_all();
  void unfreeze_all();

  /// The shapes of one sample: of the inputs and the outputs in order, and of the first of each.
  std::span<Shape const> input_shapes() const { return executable().input_shapes(); }
  std::span<Shape const> output_shapes() const { return executable().output_shapes(); }
  Shape input_shape() const { return executable().input_shape(); }
  Shape output_shape() const { return executable().output_shape(); }

  /// The network behind this layer, for solvers and files. Throws UnsupportedError for a loss layer. Weights that were
  /// written through tensors reach the network with send_weights(). Call weights_changed() and gradients_changed() to
  /// tell the tensors about other changes.
  Executable& executable() const;
  void send_weights() const;
  void weights_changed() const;
  void gradients_changed() const;

 private:
  friend class Solver;
  struct LossLayer;
  class WeightHome;
  /// Tensors that each call replaces, and those of the call before that the caller still holds.
  struct Tensors {
    std::vector<SharedTensor> now = {}, before = {};
  };
  class Remaking;
  struct Given {
    std::vector<Values> values = {};
    std::vector<SharedTensor::Home*> homes = {};
  };
  void make_weights();
  void set_frozen(std::string const& name, bool frozen);
  void give(SharedTensor const& tensor, Index sample);
  void give(std::span<SharedTensor const> tensors, std::span<Shape const> samples);
  std::span<SharedTensor const> hold_outputs(std::size_t count);
  void hold_input_gradients();
  static void hold(Tensors& tensors, std::size_t k, Executable::Made const& made, std::span<Index const> shape);
  static void reserve(Tensors& tensors, Index batch, std::span<Shape const> shapes);
  void keep(std::span<SharedTensor const> inputs);
  void check_kept() const;
  /// A solver's step. With tensors, which have homes, it also makes the first output.
  void train(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
             TrainingOptions const& options, Progress& progress, Homes homes);

  LayerConfig config_;
  std::shared_ptr<Executable> executable_;  // streams hold it, too
  std::unique_ptr<LossLayer> loss_;
  std::vector<SharedTensor> weights_data_, weights_gradients_, kept_inputs_;
  Tensors outputs_, input_gradients_;
  std::vector<std::string> weights_names_;
  std::vector<Values> kept_values_;  // those of the kept inputs, if the host has them
  Given given_;                      // the arguments of the current call
  Mode mode_ = Mode::training;
};

}  // namespace coldpress::dynamic
