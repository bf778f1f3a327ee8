#include <coldpress/dynamic/layer.hpp>

#include "dispatch.hpp"
#include "engine.hpp"
#include "runtime_cpu.hpp"
#include "runtime_reference.hpp"

#include <coldpress/dynamic/to_config.hpp>

namespace coldpress::dynamic {
namespace {

constexpr std::string_view reference_name = "cpu:reference";

/// "cpu:v3" -> "v3"; "cpu" -> "".
std::string level_of(std::string const& backend) { return backend == "cpu" ? "" : backend.substr(4); }

std::unique_ptr<Executable> make_engine(Backend const& backend, std::unique_ptr<Graph> graph, std::uint64_t seed) {
  if (backend.name() == reference_name) {
    return std::make_unique<Engine<RuntimeReference>>(std::move(graph), RuntimeReference{}, seed);
  }
  cpu::RuntimeCpu cpu;
  cpu.table = &cpu::table_for(level_of(backend.name()));
  return std::make_unique<Engine<cpu::RuntimeCpu>>(std::move(graph), cpu, seed);
}

std::vector<Index> with_batch(Index batch, Shape const& shape) {
  std::vector<Index> extents{batch};
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

/// The one tensor of a list that holds values of this shape; made anew only where the shape changed.
SharedTensor const& hold(std::vector<SharedTensor>& tensors, std::span<float const> values, std::vector<Index> shape) {
  if (tensors.empty() || tensors[0].shape() != shape) tensors.assign(1, SharedTensor{std::move(shape)});
  std::copy(values.begin(), values.end(), tensors[0].write_only().begin());
  return tensors[0];
}

}  // namespace

Backend::Backend(std::string name) : name_(std::move(name)) {
  if (name_ == reference_name || name_ == "cpu") return;
  if (name_.rfind("cpu:", 0) != 0) {
    throw UnsupportedError{"no backend '" + name_ + "'; there are cpu, cpu:reference, and cpu:LEVEL for an instruction set level"};
  }
  cpu::table_for(level_of(name_));
}

/// A loss as a layer of its own: forward(predictions, targets) gives the mean loss, backward() the gradient of its sum.
struct Layer::LossLayer {
  AnyLoss loss;
  std::vector<float> gradient = {};
};

/// Where a weight's or a gradient's values are: in the executable's buffer.
class Layer::WeightHome final : public SharedTensor::Home {
 public:
  WeightHome(Executable& executable, int buffer, int weight) : executable_(executable), buffer_(buffer), weight_(weight) {}
  void pull(std::span<float> values) const override { executable_.read(buffer_, weight_, values); }
  void push(std::span<float const> values) override { executable_.write(buffer_, weight_, values); }

 private:
  Executable& executable_;
  int buffer_, weight_;
};

Layer Layer::from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input, std::uint64_t seed) {
  bool is_loss = false;
  AnyLoss loss;
  std::visit(
      [&](auto const& type) {
        if constexpr (Loss<std::remove_cvref_t<decltype(type)>>) is_loss = true, loss = type;
      },
      config.layer_type);
  if (!is_loss) {
    auto graph = std::make_unique<Graph>(config, input);
    return {std::move(config), make_engine(backend, std::move(graph), seed)};
  }
  Layer layer{std::move(config), nullptr};
  layer.loss_ = std::make_unique<LossLayer>(LossLayer{loss});
  return layer;
}

Layer::Layer(LayerConfig config, std::unique_ptr<Executable> executable) : config_(std::move(config)), executable_(std::move(executable)) {
  if (executable_) make_weights();
}
Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&& other) noexcept {
  std::swap(config_, other.config_);
  std::swap(executable_, other.executable_);
  std::swap(loss_, other.loss_);
  std::swap(homes_, other.homes_);
  std::swap(weights_data_, other.weights_data_);
  std::swap(weights_gradients_, other.weights_gradients_);
  std::swap(weights_names_, other.weights_names_);
  std::swap(outputs_, other.outputs_);
  std::swap(input_gradients_, other.input_gradients_);
  std::swap(kept_inputs_, other.kept_inputs_);
  std::swap(mode_, other.mode_);
  return *this;
}
Layer::~Layer() {
  for (SharedTensor const& tensor : weights_data_) tensor.move_out();
  for (SharedTensor const& tensor : weights_gradients_) tensor.move_out();
}

void Layer::make_weights() {
  int i = 0;
  for (Executable::Weight const& weight : executable_->weights()) {
    // Juice keeps a bias as a row: {1, out}.
    auto shape = weight.shape.rank() == 1 ? with_batch(1, weight.shape) : std::vector<Index>(weight.shape.extents, weight.shape.extents + weight.shape.rank());
    for (auto [tensors, buffer] : {std::pair{&weights_data_, Executable::data}, std::pair{&weights_gradients_, Executable::gradient}}) {
      homes_.push_back(std::make_unique<WeightHome>(*executable_, buffer, i));
      tensors->emplace_back(shape);
      tensors->back().move_in(homes_.back().get());
    }
    weights_names_.push_back(weight.name);
    ++i;
  }
}

Executable& Layer::executable() const {
  if (!executable_) throw UnsupportedError{"a loss layer has no network behind it"};
  return *executable_;
}
void Layer::send_weights() const {
  for (SharedTensor const& tensor : weights_data_) tensor.send_home();
}
void Layer::weights_changed() const {
  for (SharedTensor const& tensor : weights_data_) tensor.home_changed();
}

std::span<SharedTensor const> Layer::forward(std::span<SharedTensor const> inputs) {
  std::size_t const wanted = loss_ ? 2 : 1;
  if (inputs.size() != wanted) {
    throw ShapeError{"forward: takes " + std::to_string(wanted) + " inputs, got " + std::to_string(inputs.size())};
  }
  if (!loss_) {
    auto const y = forward(inputs[0].read());
    kept_inputs_.assign(inputs.begin(), inputs.end());
    Index const batch = inputs[0].size() / executable_->input_shape().size();
    hold(outputs_, y, with_batch(batch, executable_->output_shape()));
    return outputs_;
  }
  auto const y = inputs[0].read(), target = inputs[1].read();
  Index const batch = inputs[0].shape()[0], size = inputs[0].size() / batch;
  float mean = 0;
  std::visit(
      [&](auto const& loss) {
        Index const targets = loss.target_shape(Shape{size}).size();
        require(static_cast<Index>(target.size()) == batch * targets, "loss: the targets must be as many as the samples");
        check_targets(loss, target);
        cpu::RuntimeCpu cpu;
        cpu.table = &cpu::table_for("");
        Index const pitch = cpu::Layout::pitch(size);  // kernels write whole vectors
        std::vector<float> padded(static_cast<std::size_t>(batch * pitch));
        cpu::In const x{y.data(), batch, size, size};
        mean = cpu.loss(loss, Normalization::none, x, {const_cast<float*>(y.data()), batch, size, size}, target.data(),
                        {padded.data(), batch, size, pitch});
        loss_->gradient.resize(static_cast<std::size_t>(batch * size));
        for (Index i = 0; i < batch; ++i) std::copy_n(padded.data() + i * pitch, size, loss_->gradient.data() + i * size);
      },
      loss_->loss);
  kept_inputs_.assign(inputs.begin(), inputs.end());
  hold(outputs_, {&mean, 1}, {1});
  return outputs_;
}

std::span<SharedTensor const> Layer::backward(std::span<SharedTensor const> output_gradients) {
  backward_input(output_gradients);
  if (!loss_) backward_parameters();
  return input_gradients_;
}

std::span<SharedTensor const> Layer::backward_input(std::span<SharedTensor const> output_gradients) {
  require(!kept_inputs_.empty(), "backward: comes after forward");
  std::vector<Index> const shape = kept_inputs_[0].shape();
  if (loss_) {
    hold(input_gradients_, loss_->gradient, shape);
    return input_gradients_;
  }
  if (output_gradients.size() != 1) throw ShapeError{"backward: takes 1 gradient, got " + std::to_string(output_gradients.size())};
  hold(input_gradients_, executable_->backward_input(output_gradients[0].read()), shape);
  return input_gradients_;
}

void Layer::backward_parameters() {
  executable().backward_parameters();
  for (SharedTensor const& tensor : weights_gradients_) tensor.home_changed();
}

void Layer::update_weights() {
  send_weights();
  for (SharedTensor const& tensor : weights_gradients_) tensor.send_home();
  executable().subtract_gradients();
  weights_changed();
}

void Layer::clear_weights_gradients() {
  executable().clear(Executable::gradient);
  for (SharedTensor const& tensor : weights_gradients_) tensor.home_changed();
}

Shape Layer::input_shape() const { return executable().input_shape(); }
Shape Layer::output_shape() const { return executable().output_shape(); }

}  // namespace coldpress::dynamic
