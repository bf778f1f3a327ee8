// Puts the weights of a file into a network, and those of a network into a model.
#include "weights.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace coldpress::persist {
namespace {

/// The shape of a sample for a config that does not give it: what the first weight expects, if it is a matrix.
std::optional<Shape> input_from_weights(Model const& model) {
  for (NamedTensor const& tensor : model.weights) {
    if (tensor.name.ends_with("-bias")) continue;
    return tensor.shape.size() == 2 ? std::optional{Shape{tensor.shape[1]}} : std::nullopt;
  }
  return {};
}

}  // namespace

std::optional<Shape> input_of(Model const& model, std::optional<Shape> input) {
  return input || dynamic::declares_input(model.config) ? input : input_from_weights(model);
}

std::vector<dynamic::Values> in_order(Model const& model, std::vector<dynamic::Executable::Weight> const& weights) {
  Tensors tensors{model.weights};
  tensors.drop_juice_biases(model.config);
  std::vector<dynamic::Values> values;
  for (auto const& weight : weights) {
    auto const& taken = values.emplace_back(tensors.take(weight, weight.name, weight.other_name));
    for (std::string const& alias : weight.aliases) {  // Juice writes a shared weight once per layer
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

void rotate_filters(Model& model) {
  ByName const tensors{std::span{model.weights}};
  for_each_layer(model.config, [&](auto const& config) {
    bool const convolves = std::holds_alternative<Convolution>(config.layer_type);
    NamedTensor* const weight = convolves ? tensors.find(config, "-0") : nullptr;
    if (!weight || weight->shape.size() < 4) return;
    auto const taps = std::accumulate(weight->shape.begin() + 2, weight->shape.end(), Index{1}, std::multiplies{});
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
      refuse_unless(c->filter_shape.count == 1 && c->stride.count == 1 && c->padding.count == 1 &&
                        c->padding_after.count == 0 && !c->same,
                    "Juice's convolutions have the same window on both axes, and the same padding on all sides");
    } else if (auto const* m = std::get_if<MeanSquaredError>(&config.layer_type)) {
      refuse_unless(m->loss_average == Average::samples && m->loss_weight == 1,
                    "Juice's mean squared error is the mean over samples and has no weight");
    } else if (auto const* p = std::get_if<Pooling>(&config.layer_type)) {
      refuse_unless(p->rounding == Rounding::floor && !p->count_padding,
                    "Juice's poolings round down and do not count padding");
      refuse_unless(p->filter_shape.count == 1 && p->stride.count == 1 && p->padding.count == 1 &&
                        p->padding_after.count == 0 && !p->same,
                    "Juice's poolings have the same window on both axes, and the same padding on all sides");
    } else if (auto const* r = std::get_if<Rnn>(&config.layer_type)) {
      refuse_unless(r->output == RnnOutput::layers && r->truncation == 0,
                    "Juice's recurrent layers output {hidden, layers} and do not truncate gradients");
      refuse_unless(r->reset_after, "Juice's GRUs apply the reset gate after the product");
      refuse_unless(!r->initial_state, "Juice's recurrent layers start from a state of zeros");
      refuse_unless(r->direction_mode == DirectionMode::uni_directional, "Juice's recurrent layers have one direction");
    }
  });
  auto const output_shapes = dynamic::output_shapes(model.config);
  std::map<std::string_view, Shape> const shapes{output_shapes.begin(), output_shapes.end()};
  std::map<std::string, NamedTensor> biases;  // by the name of the weight that each follows
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
    std::vector<float> values(static_cast<std::size_t>(weight.shape.size()));
    layer.executable().read(dynamic::Executable::data, i++, values);
    model.weights.push_back(tensor_of(weight, std::move(values)));
  }
  return model;
}

dynamic::Layer layer_of(dynamic::Backend const& backend, Model const& model, std::optional<Shape> input,
                        std::uint64_t seed) {
  return dynamic::Layer::from_config(backend, model.config, input_of(model, input), seed,
                                     [&](auto const& weights) { return in_order(model, weights); });
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
