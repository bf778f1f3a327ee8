#include <coldpress/dynamic/layer.hpp>

#include "dispatch.hpp"
#include "engine.hpp"
#include "runtime_cpu.hpp"
#include "runtime_reference.hpp"

#include <coldpress/dynamic/separate_loss.hpp>
#include <coldpress/dynamic/to_config.hpp>

namespace coldpress::dynamic {
namespace {

constexpr std::string_view reference_name = "cpu:reference";

/// Those of a minibatch, without the heap.
class Extents {
 public:
  Extents(Index batch, Shape const& shape) : rank_(static_cast<std::size_t>(shape.rank()) + 1), extents_{batch} {
    std::copy_n(shape.extents, rank_ - 1, extents_ + 1);
  }
  operator std::span<Index const>() const { return {extents_, rank_}; }

 private:
  std::size_t rank_;
  Index extents_[Shape::max_rank + 1];
};

/// "cpu:v3" -> "v3"; "cpu" -> "".
std::string level_of(std::string const& backend) { return backend == "cpu" ? "" : backend.substr(4); }

/// f(the primitives of this backend)
template <class F>
auto with_primitives(Backend const& backend, F f) {
  if (backend.name() == reference_name) return f(RuntimeReference{});
  cpu::RuntimeCpu cpu;
  cpu.table = &cpu::table_for(level_of(backend.name()));
  return f(cpu);
}

}  // namespace

Backend::Backend(std::string name) : name_(std::move(name)) {
  if (name_ == reference_name || name_ == "cpu") return;
  if (name_.rfind("cpu:", 0) != 0 || level_of(name_).empty()) {
    throw UnsupportedError{"no backend '" + name_ +
                           "'; there are cpu, cpu:reference, and cpu:LEVEL for an instruction set level"};
  }
  cpu::table_for(level_of(name_));
}

/// A loss as a layer of its own: forward(predictions, targets) gives the mean loss, backward() the gradient of its sum.
struct Layer::LossLayer {
  AnyLoss loss;
  Backend backend;
  HeapMemory<float> memory = {};
  std::span<float const> gradient = {};

  float forward(std::span<float const> y, std::span<float const> target, Index batch) {
    return std::visit(
        [&](auto const& l) {
          return with_primitives(backend,
                                 [&](auto const& primitives) { return forward(l, primitives, y, target, batch); });
        },
        loss);
  }

 private:
  template <class LossType, class Primitives>
  float forward(LossType const& l, Primitives const& primitives, std::span<float const> y,
                std::span<float const> target, Index batch) {
    Index const size = static_cast<Index>(y.size()) / batch, width = l.target_shape(Shape{size}).size();
    require(static_cast<Index>(target.size()) == batch * width, "loss: the targets must be as many as the samples");
    check_targets(l, target);
    auto const loss_now = separate_loss(l, primitives, y, target, batch, memory);
    gradient = loss_now.gradient;
    return loss_now.mean;
  }
};

/// Where a weight's or a gradient's values are: in the executable's buffer.
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
  bool is_loss = false;
  AnyLoss loss;
  std::visit(
      [&](auto const& type) {
        if constexpr (Loss<std::remove_cvref_t<decltype(type)>>) is_loss = true, loss = type;
      },
      config.layer_type);
  if (!is_loss) {
    auto graph = std::make_unique<Graph>(config, input);
    auto engine = with_primitives(backend, [&](auto const& primitives) -> std::unique_ptr<Executable> {
      return std::make_unique<Engine<std::remove_cvref_t<decltype(primitives)>>>(std::move(graph), primitives, seed);
    });
    return {std::move(config), std::move(engine)};
  }
  Layer layer{std::move(config), nullptr};
  layer.loss_ = std::make_unique<LossLayer>(LossLayer{loss, backend});
  return layer;
}

Layer::Layer(LayerConfig config, std::unique_ptr<Executable> executable)
    : config_(std::move(config)), executable_(std::move(executable)) {
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
    std::vector<Index> shape(weight.shape.extents, weight.shape.extents + weight.shape.rank());
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
    for (auto [tensors, buffer] :
         {std::pair{&weights_data_, Executable::data}, std::pair{&weights_gradients_, Executable::gradient}}) {
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

/// The one tensor of a list gets these values. It may be what a later pass reads; then there is another one from now
/// on.
void Layer::hold(std::vector<SharedTensor>& tensors, std::span<float const> values, std::span<Index const> shape) {
  auto const kept = [&](SharedTensor const& tensor) { return tensor.is(tensors[0]); };
  if (tensors.empty() || std::any_of(kept_inputs_.begin(), kept_inputs_.end(), kept)) {
    tensors.assign(1, SharedTensor{{shape.begin(), shape.end()}});
  }
  tensors[0].remake(shape);
  std::copy(values.begin(), values.end(), tensors[0].write_only().begin());
}

std::span<SharedTensor const> Layer::forward(std::span<SharedTensor const> inputs) {
  std::size_t const wanted = loss_ ? 2 : 1;
  if (inputs.size() != wanted) {
    throw ShapeError{"forward: takes " + std::to_string(wanted) + " inputs, got " + std::to_string(inputs.size())};
  }
  if (!loss_) {
    inputs[0].check_samples(executable_->input_shape().size());
    auto const y = forward(inputs[0].read());
    kept_inputs_.assign(inputs.begin(), inputs.end());
    hold(outputs_, y, Extents{inputs[0].size() / executable_->input_shape().size(), executable_->output_shape()});
    return outputs_;
  }
  require(!inputs[0].shape().empty(), "loss: the predictions' first extent must be the batch");
  float const mean = loss_->forward(inputs[0].read(), inputs[1].read(), inputs[0].shape()[0]);
  kept_inputs_.assign(inputs.begin(), inputs.end());
  hold(outputs_, {&mean, 1}, std::array<Index, 1>{1});
  return outputs_;
}

std::span<SharedTensor const> Layer::backward(std::span<SharedTensor const> output_gradients) {
  backward_input(output_gradients);
  if (!loss_) backward_parameters();
  return input_gradients_;
}

std::span<SharedTensor const> Layer::backward_input(std::span<SharedTensor const> output_gradients) {
  if (loss_) {
    require(!loss_->gradient.empty(), "backward: comes after forward");
    hold(input_gradients_, loss_->gradient, kept_inputs_[0].shape());
    return input_gradients_;
  }
  if (output_gradients.size() != 1)
    throw ShapeError{"backward: takes 1 gradient, got " + std::to_string(output_gradients.size())};
  output_gradients[0].check_samples(executable().output_shape().size());
  auto const dx = executable_->backward_input(output_gradients[0].read());
  Shape const in = executable_->input_shape();
  if (kept_inputs_.empty()) {
    hold(input_gradients_, dx, Extents{static_cast<Index>(dx.size()) / in.size(), in});
  } else {
    hold(input_gradients_, dx, kept_inputs_[0].shape());
  }
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
