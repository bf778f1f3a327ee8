// Makes a network, or one loss, from a config, and runs it forward on tensors.
#include <coldpress/dynamic/layer.hpp>

#include <coldpress/core/counted.hpp>
#include "layer_parts.hpp"
#include "objective.hpp"

namespace coldpress::dynamic {
namespace {

std::unique_ptr<Executable> executable_of(Backend const& backend, LayerConfig const& config, std::optional<Shape> input,
                                          std::uint64_t seed) {
  return any_backend(backend)->engine(std::make_unique<Graph>(config, input), seed, WeightsStart::filled);
}

/// The shape of one sample: all extents but the first.
Shape sample_shape(SharedTensor const& tensor) {
  auto const& extents = tensor.shape();
  if (extents.size() < 2 || extents.size() > Shape::max_rank + 1) return {tensor.size() / extents[0]};
  Shape shape{};
  std::copy(extents.begin() + 1, extents.end(), shape.extents);
  return shape;
}

}  // namespace

std::unique_ptr<Executable> make_executable(std::string const& backend, std::vector<LayerType> const& layers,
                                            Shape in) {
  SequentialConfig container;
  for (LayerType const& layer : layers)
    container.add_layer({type_name(layer) + std::to_string(container.layers.size() + 1), layer});
  return executable_of(Backend{backend}, {"network", container}, in, 0);
}

/// The home of a weight or of its gradient: the executable's buffer.
class Layer::WeightHome final : public SharedTensor::Home {
 public:
  WeightHome(Executable& executable, int buffer, int weight)
      : executable_(executable), buffer_(buffer), weight_(weight) {}
  void pull(std::span<float> values) const override { executable_.read(buffer_, weight_, values); }
  void push(std::span<float const> values) override { executable_.write(buffer_, weight_, values); }

 private:
  Executable& executable_;
  int buffer_, weight_;
};

Layer Layer::from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input, std::uint64_t seed) {
  if (!is_objective(config)) {
    auto executable = executable_of(backend, config, input, seed);
    return {std::move(config), std::move(executable)};
  }
  // A loss layer of a GPU computes on the host, where its operands are read.
  std::string const host = is_cuda(backend.name()) ? "cpu" : backend.name();
  auto loss = std::make_unique<LossLayer>(LossLayer{{objective_of(config), host}, any_backend(backend)});
  loss->objective.want_target_gradient();
  Layer layer{std::move(config), nullptr};
  layer.loss_ = std::move(loss);
  return layer;
}

Layer Layer::from_config(Backend const& backend, LayerConfig config, std::optional<Shape> input, std::uint64_t seed,
                         WeightValues const& weights) {
  auto graph = std::make_unique<Graph>(config, input);
  auto const values = weights(graph->weights());
  auto executable = any_backend(backend)->engine(std::move(graph), seed, WeightsStart::zero);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) executable->write(Executable::data, static_cast<int>(i), values[i]);
  }
  return {std::move(config), std::move(executable)};
}

Layer::Layer(LayerConfig config, std::unique_ptr<Executable> executable)
    : config_(std::move(config)), executable_(std::move(executable)) {
  if (executable_) make_weights();
}
Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&& other) noexcept {
  Layer taken{std::move(other)};  // so that `other` is left without a network, as by a move construction
  std::swap(config_, taken.config_);
  std::swap(executable_, taken.executable_);
  std::swap(loss_, taken.loss_);
  std::swap(weights_data_, taken.weights_data_);
  std::swap(weights_gradients_, taken.weights_gradients_);
  std::swap(weights_names_, taken.weights_names_);
  std::swap(outputs_, taken.outputs_);
  std::swap(input_gradients_, taken.input_gradients_);
  std::swap(kept_inputs_, taken.kept_inputs_);
  std::swap(kept_values_, taken.kept_values_);
  std::swap(mode_, taken.mode_);
  return *this;
}
Layer::~Layer() {
  for (SharedTensor const& tensor : weights_data_) tensor.move_out();
  for (SharedTensor const& tensor : weights_gradients_) tensor.move_out();
}

void Layer::make_weights() {
  int i = 0;
  for (Executable::Weight const& weight : executable_->weights()) {
    for (auto [tensors, buffer] :
         {std::pair{&weights_data_, Executable::data}, std::pair{&weights_gradients_, Executable::gradient}}) {
      tensors->push_back(SharedTensor::without_values(juice_extents(weight.shape)));
      tensors->back().move_in(std::make_shared<WeightHome>(*executable_, buffer, i));
    }
    weights_names_.push_back(weight.name);
    ++i;
  }
}

Executable& Layer::executable() const {
  if (!executable_) throw UnsupportedError{"there is no network here: this is a loss layer, or was moved from"};
  return *executable_;
}
void Layer::send_weights() const {
  for (SharedTensor const& tensor : weights_data_) tensor.send_home();
}
void Layer::weights_changed() const {
  for (SharedTensor const& tensor : weights_data_) tensor.home_changed();
}
void Layer::gradients_changed() const {
  for (SharedTensor const& tensor : weights_gradients_) tensor.home_changed();
}

/// Puts values into tensor k. If the caller still holds that tensor, it keeps its values and another takes its place.
void Layer::hold(Tensors& tensors, std::size_t k, Executable::Made const& made, std::span<Index const> shape) {
  auto& [now, before] = tensors;
  if (now.size() <= k) now.push_back(SharedTensor::without_values({1}));
  if (now[k].is_shared()) {
    while (before.size() <= k) before.push_back(SharedTensor::without_values({1}));
    std::swap(now[k], before[k]);
  }
  now[k].remake(shape);
  if (made.home) {
    now[k].move_in(made.home);
  } else {
    std::copy(made.values.begin(), made.values.end(), now[k].write_only().begin());
  }
}

void Layer::reserve(Index batch) {
  if (batch < 1) refuse("reserve: needs at least 1 sample, got ", batch);
  executable().reserve(batch, mode_);
  auto const inputs = executable_->input_shapes();
  given_.values.reserve(inputs.size()), given_.homes.reserve(inputs.size());
  kept_inputs_.reserve(inputs.size()), kept_values_.reserve(inputs.size());
  if (!executable_->device().empty()) return;
  reserve(outputs_, batch, executable_->output_shapes());
  if (mode_ == Mode::training) reserve(input_gradients_, batch, inputs);
}
/// Allocates memory for tensors of `batch` samples.
void Layer::reserve(Tensors& tensors, Index batch, std::span<Shape const> shapes) {
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (tensors.now.size() <= k) tensors.now.push_back(SharedTensor::without_values({1}));
    tensors.now[k].remake(Extents{batch, shapes[k]});
    tensors.now[k].write_only();
  }
}

std::span<SharedTensor const> Layer::forward(std::span<SharedTensor const> inputs) {
  std::size_t const wanted = loss_ ? 2 : executable().input_shapes().size();
  if (inputs.size() != wanted) {
    throw ShapeError{"forward: takes " + counted(wanted, "input") + ", got " + std::to_string(inputs.size())};
  }
  if (loss_) {
    require(!inputs[0].shape().empty(), "loss: the predictions' first extent must be the batch");
    float const mean =
        loss_->forward(inputs[0].read(), sample_shape(inputs[0]), inputs[1].read(), inputs[0].shape()[0]);
    keep(inputs);
    hold(outputs_, 0, {{&mean, 1}}, std::array<Index, 1>{1});
    return outputs_.now;
  }
  give(inputs, executable_->input_shapes());
  send_weights();
  Remaking const remaking{outputs_, given_.homes};
  executable_->forward(given_.values, mode_, given_.homes.data());
  keep(inputs);
  return hold_outputs(executable_->output_shapes().size());
}

std::span<SharedTensor const> Layer::evaluate(std::span<SharedTensor const> inputs) {
  std::size_t const wanted = executable().input_shapes().size();
  if (inputs.size() != wanted)
    throw ShapeError{"evaluate: takes " + counted(wanted, "input") + ", got " + std::to_string(inputs.size())};
  give(inputs, executable_->input_shapes());
  send_weights();
  Remaking const remaking{outputs_, given_.homes};
  executable_->evaluate(given_.values, given_.homes.data());
  keep(inputs);  // outputs may be views of them, and they may be the tensors that would get the outputs
  hold_outputs(executable_->output_shapes().size());
  kept_inputs_.clear(), kept_values_.clear();
  return outputs_.now;
}

SharedTensor Layer::upload(SharedTensor const& tensor) const {
  auto home = executable().upload(tensor.read());
  if (!home) return tensor;
  auto there = SharedTensor::without_values(tensor.shape());
  there.move_in(std::move(home));
  return there;
}

/// Adds an input of the next call: the copy on the executable's device if there is one, else the host's values.
void Layer::give(SharedTensor const& tensor, Index sample) {
  tensor.check_samples(sample);
  SharedTensor::Home* const copy = tensor.copy();
  bool const there = copy && copy->device() == executable_->device();
  given_.values.push_back(there ? copy->on_device() : tensor.read());
  given_.homes.push_back(there ? copy : nullptr);
}
void Layer::give(std::span<SharedTensor const> tensors, std::span<Shape const> samples) {
  given_.values.clear(), given_.homes.clear();
  for (std::size_t k = 0; k < tensors.size(); ++k) give(tensors[k], samples[k].size());
}
std::span<SharedTensor const> Layer::hold_outputs(std::size_t count) {
  auto const shapes = executable_->output_shapes();
  for (std::size_t k = 0; k < count; ++k) {
    auto const made = executable_->made(k);
    hold(outputs_, k, made, Extents{static_cast<Index>(made.values.size()) / shapes[k].size(), shapes[k]});
  }
  return outputs_.now;
}

/// Keeps the inputs until backward. For a device, which has its own copies, only the shapes are kept.
void Layer::keep(std::span<SharedTensor const> inputs) {
  bool const brought = executable_ && !executable_->device().empty();
  kept_inputs_.clear(), kept_values_.clear();
  for (SharedTensor const& input : inputs) {
    if (brought) {
      kept_inputs_.push_back(SharedTensor::without_values(input.shape()));
    } else {
      kept_inputs_.push_back(input), kept_values_.push_back(input.read());
    }
  }
}
void Layer::clear_weights_gradients() {
  executable().clear(Executable::gradient);
  gradients_changed();
}

void Layer::set_frozen(std::string const& name, bool frozen) {
  auto const& weights = executable().weights();
  bool known = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Executable::Weight const& weight = weights[i];
    auto const has = [&](auto const& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
    bool const given = !name.empty() && name == weight.other_name;
    if (!given && name != weight.name && !has(weight.aliases) && !has(weight.layers)) continue;
    executable().set_frozen(static_cast<int>(i), frozen), known = true;
  }
  if (!known) throw ConfigError{"no layer with weights, and no weight, is named '" + name + "'"};
}
void Layer::freeze_all() {
  for (std::string const& name : weights_names_) freeze(name);
}
void Layer::unfreeze_all() {
  for (std::string const& name : weights_names_) unfreeze(name);
}

std::vector<std::optional<float>> Layer::learnable_weights_lr() const {
  std::vector<std::optional<float>> rates;
  if (executable_) {
    for (Executable::Weight const& weight : executable_->weights()) rates.push_back(weight.lr_mult);
  }
  return rates;
}

}  // namespace coldpress::dynamic
