// Permutes values where a layer needs the other order of channels, and finds the layer that owns shared weights.
#include "keras_builder.hpp"

#include <algorithm>

namespace coldpress::convert::keras {

namespace {

/// The axes of an image or a volume in the other order of channels.
Permute channels_last(Value const& x) { return x.is_volume() ? Permute{{1, 2, 3, 0}} : Permute{{1, 2, 0}}; }
Permute channels_first(Value const& x) { return x.is_volume() ? Permute{{3, 0, 1, 2}} : Permute{{2, 0, 1}}; }

}  // namespace

void Builder::set(std::string const& weight, std::vector<float> values) {
  std::size_t const end = weight.rfind("-0");
  if (std::string const first = first_of(weight.substr(0, end)); !first.empty()) {
    auto const [own, is_new] = weights_of_first_.emplace(first + weight.substr(end), values);
    if (!is_new && own->second != values)
      throw UnsupportedError{"layer '" + persist::printable(first) +
                             "' is called several times, once with a flattened image and once with other values, so "
                             "that its weights would have two orders here"};
  }
  weights_[weight] = std::move(values);
}

std::string Builder::first_of(std::string name) const {
  bool any = false;
  for (auto sharing = shared_.rbegin(); sharing != shared_.rend(); ++sharing) {
    std::size_t const end = sharing->name.size();
    if (!name.starts_with(sharing->name) || (name.size() > end && name[end] != '.')) continue;
    name.replace(0, end, sharing->first);
    any = true;
  }
  return any ? name : std::string{};
}

Value Builder::settled(std::string const& name, Value const& x) {
  if (!x.is_flattened_image()) return x;
  Value const image = add(name + ".image", Reshape{x.image}, x);
  return add(name + ".flatten", Flatten{}, add(name + ".channels_last", channels_last(image), image));
}

Value Builder::keras_order(std::string const& name, Value const& x) {
  return x.has_channels_first() ? add(name + ".channels_last", channels_last(x), x) : settled(name, x);
}

Value Builder::our_order(std::string const& name, Value const& x) {
  return x.has_channels_first() ? add(name + ".channels_first", channels_first(x), x) : x;
}

persist::Model Builder::model(std::string const& name, std::vector<Value> const& outputs) {
  dynamic::LayerConfig config{name, std::move(layers_)};
  if (outputs.size() > 1) {
    for (Value const& output : outputs) config.outputs.push_back(output.name);
  }
  auto model = model_of(std::move(config), weights_);
  model.name = name;
  return model;
}

std::vector<Index> numbers(Node const& config, std::string_view key, std::size_t count, Index least) {
  Node const field = config[key];
  if (!field.is_list()) return std::vector<Index>(count, field.integer(least, max_size));
  if (field.size() != count) field.expected("a number, or a list of " + std::to_string(count));
  std::vector<Index> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(field[i].integer(least, max_size));
  return all;
}

PerAxis per_axis(std::vector<Index> const& numbers) {
  return PerAxis::of(numbers.data(), static_cast<int>(numbers.size()));
}

bool is_same(Node const& config) {
  Node const padding = config["padding"];
  std::string const name = padding.text();
  if (name != "same" && name != "valid")
    padding.refuse<UnsupportedError>("got \"" + name + "\", expected \"same\" or \"valid\"");
  return name == "same";
}

void expect_channels_last(Node const& config) {
  auto const format = config.find_value("data_format");
  if (format && format->text() != "channels_last")
    format->refuse<UnsupportedError>("got \"" + format->text() + "\", and only models with channels last are read");
}

void expect_sequence(Layer const& layer, Value const& x) {
  if (!x.is_sequence())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected a sequence {steps, features}");
}

}  // namespace coldpress::convert::keras
