// Appends layers to the config, with the shapes and the order of axes of the values between them.
#include "onnx_network.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/persist/model.hpp>

#include "onnx_names.hpp"

#include <algorithm>
#include <limits>

namespace coldpress::convert::onnx {

std::string described(std::vector<Axis> const& axes) {
  std::string text;
  for (Axis const& axis : axes) {
    text += text.empty() ? "" : ", ";
    text += !axis.samples   ? std::to_string(axis.extent())
            : axis.hidden() ? "samples"
                            : "samples * " + std::to_string(axis.extent());
  }
  return "[" + text + "]";
}

int Value::place(int axis) const { return static_cast<int>(std::ranges::find(order, axis) - order.begin()); }
int Value::samples_axis() const {
  auto const found = std::ranges::find_if(axes, &Axis::samples);
  return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

std::vector<int> natural(std::vector<Axis> const& axes) {
  std::vector<int> order;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!axes[a].hidden()) order.push_back(static_cast<int>(a));
  }
  return order;
}

Shape shape_of(std::vector<Axis> const& axes, std::vector<int> const& order) {
  if (order.size() > Shape::max_rank)
    refuse("a value has " + std::to_string(order.size()) + " axes, and a sample may have at most 8");
  Shape shape{};
  int rank = 0;
  for (int const a : order) shape.extents[rank++] = axes[static_cast<std::size_t>(a)].extent();
  if (rank == 0) shape.extents[0] = 1;  // a single number for each sample
  return shape;
}

void make_finite(std::vector<float>& values) {
  constexpr float most = std::numeric_limits<float>::max();
  for (float& value : values) value = std::clamp(value, -most, most);
}

void Network::add_input(std::string const& name, Shape const& shape) {
  names_.insert(name);
  container_.add_input(name, shape);
}

bool Network::is_input(std::string const& name) const {
  return std::ranges::find(container_.inputs, name, &dynamic::ShapedInput::name) != container_.inputs.end();
}

void Network::begin(Node const& node, std::vector<Constant> const& constants) {
  base_ = name_of(node, constants, own_);
}

std::string Network::unique(std::string const& name) {
  std::string all = name;
  while (!names_.insert(all).second) all = name + "_" + std::to_string(std::max(2, ++numbers_[name]));
  return all;
}

void Network::refuse_shapes(Error const& error, std::vector<Shape> const& shapes) {
  std::string text;
  for (Shape const& shape : shapes) text += (text.empty() ? "" : " and ") + to_string(shape);
  refuse("the layer of coldpress refuses " + text + ": " + error.sentence());
}

Sample Network::append(std::string const& part, dynamic::LayerType layer, std::vector<Sample> const& inputs,
                       Shape const& shape, std::vector<Weight> weights) {
  dynamic::LayerConfig config{unique(part.empty() ? base_ : base_ + "." + part), std::move(layer)};
  for (Sample const& input : inputs) config.inputs.push_back(input.name);
  config.outputs = {config.name};
  std::string const name = config.name;
  container_.add_layer(std::move(config));
  for (Weight& weight : weights) weights_.emplace_back(name, std::move(weight));
  return {name, shape};
}

Sample Network::reshape(Sample const& x, Shape const& shape) {
  if (x.shape == shape) return x;
  auto const view = views_.find(x.name);
  Sample const source = view == views_.end() ? x : view->second;
  if (source.shape == shape) return source;
  Sample const made = add("shape", Reshape{.shape = shape}, {source});
  views_.emplace(made.name, source);
  return made;
}

void Network::check_constant(Index values) const {
  if (values > *room_)
    refuse("the constants that are computed of others have more values than 2^24 and eight times those of the file");
}

Sample Network::constant(std::vector<float> values, Shape const& shape, std::string const& origin) {
  // An Embedding with one row, which the number 0 selects for each sample. The number is the Argmax of a single value,
  // which is 0 even for a NaN.
  Shape const input = container_.inputs.at(0).shape;
  Sample const row = reshape({container_.inputs[0].name, input}, {input.size()});
  Sample const first = input.size() > 1 ? add("first", Slice{.begin = 0, .end = 1}, {row}) : row;
  Sample const zero = add("zero", Argmax{.axis = 0}, {first});
  auto const count = static_cast<Index>(values.size());
  make_finite(values);
  Weight table{"-0", {1, count}, std::move(values), origin};
  return reshape(add("constant", Embedding{.vocabulary = 1, .features = count}, {zero}, {std::move(table)}), shape);
}

Sample Network::arranged(Value const& x, std::vector<int> const& order) {
  auto const longer = [&](std::vector<int> const& axes) {  // those that have more than one place
    std::vector<int> all;
    std::ranges::copy_if(axes, std::back_inserter(all), [&](int a) { return x.extent(a) > 1; });
    return all;
  };
  std::vector<int> const now = longer(x.order), wanted = longer(order);
  Shape const shape = shape_of(x.axes, order);
  if (now == wanted) return reshape(x.sample, shape);
  std::string key = x.sample.name;
  Axes axes;
  for (int const a : wanted) {
    axes.order[axes.count] = static_cast<int>(std::ranges::find(now, a) - now.begin());
    key += " " + std::to_string(axes.order[axes.count++]);
  }
  auto found = arranged_.find(key);
  if (found == arranged_.end()) {
    Sample const permuted = add("order", Permute{.axes = axes}, {reshape(x.sample, shape_of(x.axes, now))});
    found = arranged_.emplace(key, permuted).first;
  }
  return reshape(found->second, shape);
}

dynamic::LayerConfig Network::config(std::string const& name,
                                     std::vector<std::pair<std::string, Sample>> const& outputs) {
  // Layers on which no output depends are left out: an order or a shape, for example, of which another one was made.
  std::set<std::string> needed;
  std::vector<std::string> names;
  for (auto const& [given, sample] : outputs) needed.insert(sample.name);
  auto& layers = container_.layers;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (needed.contains(layer->name)) needed.insert(layer->inputs.begin(), layer->inputs.end());
  }
  std::erase_if(layers, [&](dynamic::LayerConfig const& layer) { return !needed.contains(layer.name); });
  std::erase_if(weights_, [&](auto const& weight) { return !needed.contains(weight.first); });
  std::map<std::string, std::string> renamed;
  for (auto const& [given, sample] : outputs) {
    std::string const wanted = valid_name(given);
    bool const free = sample.name == wanted || (!names_.contains(wanted) && !renamed.contains(sample.name));
    names.push_back(free ? wanted : sample.name);
    if (free && names_.insert(wanted).second) renamed.emplace(sample.name, wanted);
  }
  for (dynamic::LayerConfig& layer : layers) {
    for (auto* const values : {&layer.inputs, &layer.outputs}) {
      for (std::string& value : *values) {
        if (auto const found = renamed.find(value); found != renamed.end()) value = found->second;
      }
    }
  }
  dynamic::LayerConfig config{name, std::move(container_)};
  config.outputs = names;
  return config;
}

std::vector<Blob> Network::take_weights() {
  std::vector<Blob> blobs;
  for (auto& [layer, weight] : weights_) {
    auto const values = std::make_shared<std::vector<float> const>(std::move(weight.values));
    blobs.push_back({.layer = layer,
                     .suffix = weight.suffix,
                     .origin = weight.origin.empty() ? "a constant of the model" : weight.origin,
                     .shape = weight.shape,
                     .read = [values](std::span<float> to) { std::ranges::copy(*values, to.begin()); }});
  }
  weights_.clear();
  return blobs;
}

}  // namespace coldpress::convert::onnx
