#include <coldpress/persist/network.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

namespace coldpress::persist {
namespace {

std::vector<Index> without_leading_ones(std::vector<Index> shape) {
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}
std::vector<Index> extents_of(Shape const& shape) { return {shape.extents, shape.extents + shape.rank()}; }

std::string text(std::vector<Index> const& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

bool ends_with(std::string const& name, std::string const& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

[[noreturn]] void refuse(dynamic::Executable::Weight const& weight, std::string sentence) {
  FormatError error{std::move(sentence)};
  error.in_field("weight '" + weight.name + "'");
  throw error;
}

/// f(config) for all layers of a network, containers opened.
void for_each_layer(dynamic::LayerConfig const& config, auto const& f) {
  if (auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type)) {
    for (auto const& child : container->layers) for_each_layer(child, f);
  } else {
    f(config);
  }
}

/// Tensors by their names.
template <class Tensor>
class ByName {
 public:
  explicit ByName(std::span<Tensor> tensors) {
    for (Tensor& tensor : tensors) by_name_.emplace(tensor.name, &tensor);
  }
  /// Null where there is none.
  Tensor* find(std::string_view name) const {
    auto const found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  /// The tensor of a layer's weight, by the name that the config gives the weight, or its own.
  Tensor* find(dynamic::LayerConfig const& config, std::string const& suffix) const {
    Tensor* const given = config.params.empty() ? nullptr : find(config.params[0].name + suffix.substr(2));
    return given ? given : find(config.name + suffix);
  }
  void drop(Tensor const& tensor) { by_name_.erase(tensor.name); }
  Tensor const* first() const { return by_name_.empty() ? nullptr : by_name_.begin()->second; }

 private:
  std::map<std::string_view, Tensor*> by_name_;
};

/// Hands out tensors by name for each weight in turn; whatever is left over at the end is an error.
class Tensors {
 public:
  explicit Tensors(std::vector<NamedTensor> const& tensors) : left_(std::span{tensors}) {}
  /// Biases that Juice saves for layers that have none: of the output's shape for a convolution, and one that nobody
  /// reads for a recurrent layer.
  void drop_juice_biases(dynamic::LayerConfig const& network) {
    for_each_layer(network, [&](auto const& config) {
      auto const* const convolution = std::get_if<Convolution>(&config.layer_type);
      bool const recurrent = std::holds_alternative<Rnn>(config.layer_type);
      if (!recurrent && (!convolution || convolution->has_bias)) return;
      NamedTensor const* const bias = left_.find(config, "-0-bias");
      if (bias && (recurrent || bias->shape.size() == 4)) left_.drop(*bias);
    });
  }
  /// Nothing for a bias that is not there: Leaf had none, and it is zero.
  dynamic::Values take(dynamic::Executable::Weight const& weight, std::string const& name,
                       std::string const& other_name) {
    NamedTensor const* tensor = left_.find(name);
    if (!tensor && !other_name.empty()) tensor = left_.find(other_name);
    if (!tensor) {
      if (ends_with(name, "-bias")) return {};
      refuse(weight, "is missing");
    }
    if (without_leading_ones(tensor->shape) != without_leading_ones(extents_of(weight.shape)))
      refuse(weight, "has shape " + text(tensor->shape) + ", the layer wants " + text(extents_of(weight.shape)));
    if (static_cast<Index>(tensor->values.size()) != weight.shape.size())
      refuse(weight, "has " + std::to_string(tensor->values.size()) + " values, its shape " + text(tensor->shape) +
                         " asks for " + std::to_string(weight.shape.size()));
    left_.drop(*tensor);
    return tensor->values;
  }
  bool has(std::string const& name) const { return left_.find(name) != nullptr; }
  void expect_empty() const {
    if (left_.first()) throw FormatError{"weight '" + left_.first()->name + "' belongs to no layer"};
  }

 private:
  ByName<NamedTensor const> left_;
};

/// The shape of a sample that the first weight asks for, if it is a matrix, for a config that does not say it.
std::optional<Shape> input_from_weights(Model const& model) {
  for (NamedTensor const& tensor : model.weights) {
    if (ends_with(tensor.name, "-bias")) continue;
    return tensor.shape.size() == 2 ? std::optional{Shape{tensor.shape[1]}} : std::nullopt;
  }
  return {};
}

/// The shape of a sample, where it is not the config that says it.
std::optional<Shape> input_of(Model const& model, std::optional<Shape> input) {
  return input || dynamic::declares_input(model.config) ? input : input_from_weights(model);
}

std::vector<dynamic::Executable::Weight> wanted(Model const& model) {
  return dynamic::weights_of(model.config, input_of(model, {}));
}

/// Where in the model the values of each weight are; nothing for those that are zero.
std::vector<dynamic::Values> in_order(Model const& model, std::vector<dynamic::Executable::Weight> const& weights) {
  Tensors tensors{model.weights};
  tensors.drop_juice_biases(model.config);
  std::vector<dynamic::Values> values;
  for (auto const& weight : weights) {
    auto const& taken = values.emplace_back(tensors.take(weight, weight.name, weight.other_name));
    for (std::string const& alias : weight.aliases) {  // Juice writes what is shared once for each layer
      if (!tensors.has(alias)) continue;
      auto const other = tensors.take(weight, alias, "");
      bool const same = taken.empty() ? std::ranges::all_of(other, [](float value) { return value == 0; })
                                      : std::ranges::equal(other, taken);
      if (!same)
        throw MismatchError{"weight '" + alias + "' is shared with '" + weight.name + "', but has other values"};
    }
  }
  tensors.expect_empty();
  return values;
}

/// Where in the checkpoint the values of each buffer are: the optimizer's states, and the gradients of samples that
/// wait.
std::vector<std::vector<dynamic::Values>> in_order(Checkpoint const& checkpoint,
                                                   std::vector<dynamic::Executable::Weight> const& weights, int states,
                                                   bool accumulates) {
  if (checkpoint.waiting > 0 && !accumulates)
    throw MismatchError{"the checkpoint is between minibatches of one update; the solver updates after each"};
  if (checkpoint.waiting > std::uint64_t{1} << 40) throw FormatError{"more samples wait for their update than 2^40"};
  Tensors tensors{checkpoint.optimizer_state};
  std::vector<std::vector<dynamic::Values>> buffers;
  for (int b = 0; b < states + (checkpoint.waiting > 0); ++b) {
    auto& values = buffers.emplace_back();
    for (auto const& weight : weights) values.push_back(tensors.take(weight, buffer_name(b, states, weight.name), {}));
  }
  tensors.expect_empty();
  return buffers;
}

std::vector<std::vector<float>> copies(std::vector<dynamic::Values> const& all,
                                       std::vector<dynamic::Executable::Weight> const& weights) {
  std::vector<std::vector<float>> copied;
  for (std::size_t i = 0; i < all.size(); ++i) {
    copied.emplace_back(all[i].begin(), all[i].end());
    copied.back().resize(static_cast<std::size_t>(weights[i].shape.size()));
  }
  return copied;
}

}  // namespace

void rotate_filters(Model& model) {
  ByName const tensors{std::span{model.weights}};
  for_each_layer(model.config, [&](auto const& config) {
    bool const convolves = std::holds_alternative<Convolution>(config.layer_type);
    NamedTensor* const weight = convolves ? tensors.find(config, "-0") : nullptr;
    if (!weight || weight->shape.size() != 4) return;
    auto const taps = weight->shape[2] * weight->shape[3];
    for (auto filter = weight->values.begin(); filter != weight->values.end(); filter += taps)
      std::reverse(filter, filter + taps);
  });
}

Model for_juice(Model model) {
  for_each_layer(model.config, [](auto const& config) {
    auto const refuse_unless = [&](bool juice, char const* sentence) {
      if (juice) return;
      ConfigError error{sentence};
      error.in_layer(config.name);
      throw error;
    };
    if (auto const* c = std::get_if<Convolution>(&config.layer_type)) {
      refuse_unless(!c->has_bias && c->groups == 1 && c->dilation == 1,
                    "Juice's convolutions have no bias, no groups and no dilation");
      refuse_unless(c->filter_shape.count == 1 && c->stride.count == 1 && c->padding.count == 1,
                    "Juice's convolutions have the same window on both axes");
    } else if (auto const* m = std::get_if<MeanSquaredError>(&config.layer_type)) {
      refuse_unless(m->loss_average == Average::samples && m->loss_weight == 1,
                    "Juice's mean squared error is the mean over samples and has no weight");
    } else if (auto const* p = std::get_if<Pooling>(&config.layer_type)) {
      refuse_unless(p->rounding == Rounding::floor && !p->count_padding,
                    "Juice's poolings round down and do not count padding");
      refuse_unless(p->filter_shape.count == 1 && p->stride.count == 1 && p->padding.count == 1,
                    "Juice's poolings have the same window on both axes");
    } else if (auto const* r = std::get_if<Rnn>(&config.layer_type)) {
      refuse_unless(r->output == RnnOutput::layers && r->truncation == 0,
                    "Juice's recurrent layers make {hidden, layers} and truncate no gradient");
      refuse_unless(r->direction_mode == DirectionMode::uni_directional, "Juice's recurrent layers go one way");
    }
  });
  auto const output_shapes = dynamic::output_shapes(model.config);
  std::map<std::string_view, Shape> const shapes{output_shapes.begin(), output_shapes.end()};
  std::map<std::string, NamedTensor> biases;  // by the weight that they follow
  for_each_layer(model.config, [&](auto const& config) {
    NamedTensor bias{config.name + "-0-bias", {}, {}};
    if (std::holds_alternative<Convolution>(config.layer_type)) {
      Shape const shape = shapes.at(config.name);
      bias.shape = extents_of(shape);
      bias.shape.insert(bias.shape.begin(), model.batch);
      bias.values.resize(static_cast<std::size_t>(model.batch * shape.size()));
    } else if (auto const* rnn = std::get_if<Rnn>(&config.layer_type)) {
      bias.shape = {1, rnn->hidden_size};
      bias.values.assign(static_cast<std::size_t>(rnn->hidden_size), 1.0f);
    } else {
      return;
    }
    biases.emplace(config.name + "-0", std::move(bias));
  });
  std::vector<NamedTensor> weights;
  for (NamedTensor& weight : model.weights) {
    auto const bias = biases.find(weight.name);
    weights.push_back(std::move(weight));
    if (bias != biases.end()) weights.push_back(std::move(bias->second));
  }
  model.weights = std::move(weights);
  return model;
}

std::vector<std::vector<float>> weights_in_order(Model const& model) {
  auto const weights = wanted(model);
  return copies(in_order(model, weights), weights);
}

std::vector<std::vector<float>> weights_of_type(Model const& model, dynamic::LayerConfig const& expected) {
  if (auto const found = dynamic::difference(model.config, expected); !found.empty()) {
    throw MismatchError{"the file's network is not the one asked for: " + found};
  }
  auto all = weights_in_order(model);
  std::vector<std::vector<float>> result;
  for (std::size_t i : dynamic::matching_weights(model.config, expected)) result.push_back(std::move(all[i]));
  return result;
}

Model model_of(dynamic::Layer const& layer, Index batch) {
  Model model{.name = layer.name(), .config = layer.config(), .batch = batch};
  dynamic::declare_input(model.config, layer.input_shape());
  layer.send_weights();
  int i = 0;
  for (auto const& weight : layer.executable().weights()) {
    std::vector<Index> shape = extents_of(weight.shape);
    if (shape.size() == 1) shape.insert(shape.begin(), 1);  // as Juice writes a bias
    std::vector<float> values(static_cast<std::size_t>(weight.shape.size()));
    layer.executable().read(dynamic::Executable::data, i++, values);
    model.weights.push_back({weight.name, std::move(shape), std::move(values)});
  }
  return model;
}

dynamic::Layer layer_of(dynamic::Backend const& backend, Model const& model, std::optional<Shape> input,
                        std::uint64_t seed) {
  return dynamic::Layer::from_config(backend, model.config, input_of(model, input), seed,
                                     [&](auto const& weights) { return in_order(model, weights); });
}

std::vector<std::vector<std::vector<float>>> buffers_in_order(Checkpoint const& checkpoint, int states,
                                                              bool accumulates) {
  auto const weights = wanted(checkpoint.model);
  std::vector<std::vector<std::vector<float>>> result;
  for (auto const& buffer : in_order(checkpoint, weights, states, accumulates))
    result.push_back(copies(buffer, weights));
  return result;
}

namespace {

/// The executable's buffer b of buffers_in_order.
int buffer_of(int b, int states) { return b < states ? dynamic::Executable::state + b : dynamic::Executable::gradient; }

}  // namespace

Checkpoint checkpoint_of(dynamic::Solver const& solver) {
  solver.check_finite();
  dynamic::Layer const& layer = solver.network();
  dynamic::Executable const& executable = layer.executable();
  Checkpoint checkpoint{.model = model_of(layer),
                        .loss = solver.config().objective,
                        .solver = solver.config(),
                        .random_state = {executable.seed()},
                        .iteration = solver.iteration(),
                        .waiting = static_cast<std::uint64_t>(solver.progress().waiting)};
  if (executable.step() != solver.iteration()) checkpoint.random_state.push_back(executable.step());
  checkpoint.solver.network.reset();
  checkpoint.solver.objective.reset();
  int const states = solver.state_count();
  for (int b = 0; b < states + (checkpoint.waiting > 0); ++b) {
    for (std::size_t i = 0; i < checkpoint.model.weights.size(); ++i) {
      NamedTensor tensor = checkpoint.model.weights[i];
      tensor.name = buffer_name(b, states, tensor.name);
      executable.read(buffer_of(b, states), static_cast<int>(i), tensor.values);
      checkpoint.optimizer_state.push_back(std::move(tensor));
    }
  }
  return checkpoint;
}

dynamic::Solver solver_of(dynamic::Backend const& backend, Checkpoint const& checkpoint) {
  auto const& random = checkpoint.random_state;
  std::uint64_t const seed = random.empty() ? checkpoint.seed : random[0];
  std::visit([&](auto const& type) { check_optimizer(checkpoint, type.name, type.states); }, checkpoint.solver.solver);
  dynamic::SolverConfig config = checkpoint.solver;
  config.objective = checkpoint.loss;
  int const states = std::visit([](auto const& optimizer) { return optimizer.states; }, config.solver);
  bool const accumulates = config.accumulate > 1;
  std::vector<std::vector<dynamic::Values>> buffers;
  auto layer = dynamic::Layer::from_config(backend, checkpoint.model.config, input_of(checkpoint.model, {}), seed,
                                           [&](auto const& weights) {
                                             buffers = in_order(checkpoint, weights, states, accumulates);
                                             return in_order(checkpoint.model, weights);
                                           });
  dynamic::Solver solver{std::move(layer), std::move(config)};
  dynamic::Executable& executable = solver.network().executable();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    for (std::size_t i = 0; i < buffers[b].size(); ++i)
      executable.write(buffer_of(static_cast<int>(b), states), static_cast<int>(i), buffers[b][i]);
  }
  executable.set_step(random.size() > 1 ? random[1] : checkpoint.iteration);
  solver.set_progress({checkpoint.iteration, static_cast<Index>(checkpoint.waiting)});
  return solver;
}

}  // namespace coldpress::persist

namespace coldpress::dynamic {

Layer Layer::load(Backend const& backend, std::string const& path, LoadOptions options) {
  return with_file(path, [&] { return persist::layer_of(backend, persist::read_model(path, options), options.input); });
}

void Layer::save(std::string const& path) const {
  with_file(path, [&] { persist::write_model(path, persist::model_of(*this)); });
}

}  // namespace coldpress::dynamic
