// Juice's Layer: a network, or one layer of one, with its type erased.
#pragma once

#include <coldpress/dynamic/backend.hpp>
#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/shared_tensor.hpp>

#include <functional>

namespace coldpress::dynamic {

class Layer {
 public:
  /// Builds what a config describes; weights start as their fillers and the seed say. `input`: shape of one sample,
  /// where the config does not say it. Throws ConfigError, ShapeError or UnsupportedError with the layer's name.
  static Layer from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input = {},
                           std::uint64_t seed = 0);
  /// The values of a network's weights, whose names and shapes it is told; none: they are zero.
  using WeightValues = std::function<std::vector<Values>(std::vector<Executable::Weight> const&)>;
  /// The same with weights from elsewhere. They are asked for before the network takes memory, which can be refused by
  /// an exception; no filler runs.
  static Layer from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input, std::uint64_t seed,
                           WeightValues const& weights);
  /// A network of any type behind this API: an lvalue is borrowed and must outlive the layer, an rvalue is owned. Who
  /// changes a borrowed network himself calls weights_changed(), and send_weights() before he reads what was written
  /// through tensors. See adapter.hpp.
  template <class Net>
  static Layer adapt(Net&& net);
  /// A network from a file that Juice or coldpress wrote; defined in coldpress::persist. All or nothing.
  static Layer load(Backend const& backend, std::string const& path, LoadOptions options = {});
  /// Writes config and weights as Juice does; defined in coldpress::persist. The file is the old one or the new one,
  /// never half.
  void save(std::string const& path) const;

  Layer(LayerConfig config, std::unique_ptr<Executable> executable);
  Layer(Layer&&) noexcept;
  Layer& operator=(Layer&&) noexcept;
  ~Layer();

  LayerConfig const& config() const { return config_; }
  std::string const& name() const { return config_.name; }

  /// Inputs, in the order of the container's, have the batch as first extent, any batch; they are kept until backward.
  /// A loss, or a container that ends in one, takes predictions and targets. The outputs, in the order of the config's,
  /// are the layer's own, and the next call makes others; who holds one as a tensor of his own keeps its values. Those
  /// of a GPU's layer stay there until they are read, and are for one thread at a time with that layer until they are
  /// written or gone.
  std::span<SharedTensor const> forward(std::span<SharedTensor const> inputs);
  std::span<SharedTensor const> forward(std::initializer_list<SharedTensor> inputs) {
    return forward(std::span{inputs.begin(), inputs.size()});
  }
  SharedTensor const& forward(SharedTensor const& input) { return forward(std::span{&input, 1})[0]; }
  /// From the gradients of the outputs to those of the inputs, which are returned; and those of the weights. A loss
  /// layer takes none, and returns that of the predictions and, where its loss has one, that of the targets.
  std::span<SharedTensor const> backward(std::span<SharedTensor const> output_gradients = {});
  SharedTensor const& backward(SharedTensor const& output_gradient) {
    return backward(std::span{&output_gradient, 1})[0];
  }
  std::span<SharedTensor const> backward_input(std::span<SharedTensor const> output_gradients = {});
  SharedTensor const& backward_input(SharedTensor const& output_gradient) {
    return backward_input(std::span{&output_gradient, 1})[0];
  }
  void backward_parameters();

  /// Those of the last backward, or of a solver's step where the config says force_backward; else none.
  std::span<SharedTensor const> input_gradients() const { return input_gradients_.now; }

  /// A copy of a tensor whose values stay on this network's GPU, to be given to forward, evaluate, backward and a
  /// solver's train_minibatch as often as wanted: these then copy nothing from the host, which has checked the values
  /// here. Once it is written through read_write or write_only it is a tensor of the host. Where the network computes
  /// on the host, the tensor itself.
  SharedTensor upload(SharedTensor const& tensor) const;

  /// Samples one after another, without tensors around them; `x` must stay until backward. For where every nanosecond
  /// counts.
  Values forward(Values x) {
    send_weights();
    kept_inputs_.clear();
    return executable().forward(x, mode_);
  }

  /// forward in inference, whatever the mode.
  Values predict(Values x) {
    send_weights();
    return executable().forward(x, Mode::inference);
  }

  /// forward in inference, of all inputs, that also looks at the network's losses and statistics. Throws DataError for
  /// labels that are no class.
  std::span<SharedTensor const> evaluate(std::span<SharedTensor const> inputs);
  std::span<SharedTensor const> evaluate(std::initializer_list<SharedTensor> inputs) {
    return evaluate(std::span{inputs.begin(), inputs.size()});
  }
  /// Each statistic of the network, and the mean of each of its losses, with its name: over the samples of all evaluate
  /// since the last reset; NaN before the first.
  std::vector<std::pair<std::string, double>> statistics() const { return executable().statistics(Mode::inference); }
  void reset_statistics() { executable().reset_statistics(Mode::inference); }

  /// The next part of a sequence, in inference: layers with a memory go on where the last call ended. A sample is as
  /// many steps as the input shape says. Throws ShapeError where a layer needs the whole sequence at once, and for
  /// another batch than in the last call.
  Values step(Values x) {
    send_weights();
    return executable().stream({&x, 1})[0];
  }
  /// The next step starts a new sequence.
  void reset() { executable().reset(); }

  /// Room for `batch` samples: up to so many nothing is allocated from now on in forward, predict and step, and in
  /// training mode not in backward, but for tensors that take the place of some that the caller still holds. What the
  /// last call returned by reference has that room from now on, and no longer the values it had.
  void reserve(Index batch);

  /// Dropout acts in training, which is the default.
  void set_mode(Mode mode) { mode_ = mode; }
  Mode mode() const { return mode_; }

  /// In the order of the layers: W of {out, in}, then b of {1, out}, named linear1-0 and linear1-0-bias.
  std::vector<SharedTensor> const& learnable_weights_data() const { return weights_data_; }
  std::vector<SharedTensor> const& learnable_weights_gradients() const { return weights_gradients_; }
  std::vector<std::string> const& learnable_weights_names() const { return weights_names_; }
  /// Factors of the learning rate, in the same order.
  std::vector<std::optional<float>> learnable_weights_lr() const;
  /// Every weight loses its gradient, which therefore must be the whole update by now. Statistics are a solver's to
  /// update.
  void update_weights();
  void clear_weights_gradients();
  /// Training steps and update_weights leave a frozen weight, its optimizer state and its statistics as they are, while
  /// gradients flow on through its layer. The name is a weight's (linear1-0), or a layer's (linear1) for all its
  /// weights. No file holds who is frozen. Throws ConfigError for a name that is neither.
  void freeze(std::string const& name) { set_frozen(name, true); }
  void unfreeze(std::string const& name) { set_frozen(name, false); }
  void freeze_all();
  void unfreeze_all();

  /// Shapes of one sample: of the inputs and the outputs in order, and of the first ones.
  std::span<Shape const> input_shapes() const { return executable().input_shapes(); }
  std::span<Shape const> output_shapes() const { return executable().output_shapes(); }
  Shape input_shape() const { return executable().input_shape(); }
  Shape output_shape() const { return executable().output_shape(); }

  /// For solvers and files: what is behind this layer. Throws UnsupportedError for a loss layer. Weights that were
  /// written through tensors reach it with send_weights(); tensors learn of other changes through weights_changed() and
  /// gradients_changed().
  Executable& executable() const;
  void send_weights() const;
  void weights_changed() const;
  void gradients_changed() const;

 private:
  friend class Solver;
  struct LossLayer;
  class WeightHome;
  /// Tensors that each call makes anew, and those of the call before that somebody else held.
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
  /// A solver's step; on tensors, which have homes, it makes the first output.
  void train(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
             TrainingOptions const& options, Progress& progress, Homes homes);

  LayerConfig config_;
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<LossLayer> loss_;
  std::vector<SharedTensor> weights_data_, weights_gradients_, kept_inputs_;
  Tensors outputs_, input_gradients_;
  std::vector<std::string> weights_names_;
  std::vector<Values> kept_values_;  // of the inputs that are kept, where the host has them
  Given given_;                      // to the call that is under way
  Mode mode_ = Mode::training;
};

}  // namespace coldpress::dynamic
