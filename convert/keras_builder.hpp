// Puts the layers of a model of Keras together, and tracks where the order of values differs from that in Keras.
#pragma once

#include <coldpress/core/layer_traits.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/dynamic/layer_config.hpp>

#include "json_node.hpp"
#include "keras_contents.hpp"
#include "whole_network.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coldpress::convert::keras {

using json::Node;

/// What a layer computes. Images {height, width, channels} of Keras are {channels, height, width} here, and volumes
/// {depth, height, width, channels} are {channels, depth, height, width}.
struct Value {
  std::string name;
  Shape shape;
  /// Set for an image or a volume that has been flattened: its shape with the channels first, in which order its values
  /// are here, while Keras has the channels last.
  Shape image = {};

  bool is_image() const { return shape.rank() == 3; }
  bool is_volume() const { return shape.rank() == 4; }
  bool has_channels_first() const { return is_image() || is_volume(); }
  bool is_sequence() const { return shape.rank() == 2; }
  bool is_flattened_image() const { return image.rank() > 0; }
};

class Builder {
 public:
  explicit Builder(Contents& contents) : contents_(contents) {}

  Value input(std::string const& name, Shape const& shape) {
    layers_.add_input(name, shape);
    return {name, shape};
  }
  /// A layer of one value.
  template <class L>
  Value add(std::string const& name, L const& given, Value const& x) {
    L const layer = for_steps_too(given, {x.shape});
    return append(name, layer, {x}, [&] { return output_shape_of(layer, {&x.shape, 1}); });
  }
  /// A layer of several values.
  template <class L>
  Value join(std::string const& name, L const& given, std::vector<Value> const& xs) {
    std::vector<Shape> shapes;
    for (Value const& x : xs) shapes.push_back(x.shape);
    L const layer = for_steps_too(given, shapes);
    return append(name, layer, xs, [&] { return layer.output_shape(Shapes{shapes.data(), shapes.size()}); });
  }

  /// The value; if it is an image or a volume that was flattened, with its values in the order of Keras.
  Value settled(std::string const& name, Value const& x);
  /// The same, where an image becomes {height, width, channels}, and the channels of a volume come last, too.
  Value keras_order(std::string const& name, Value const& x);
  /// An image {height, width, channels}, or a volume, as one of the network.
  Value our_order(std::string const& name, Value const& x);

  std::string version() const { return contents_.version(); }
  Array read(Place const& place, std::size_t number, std::string_view variable, std::vector<Index> const& shape) {
    return contents_.read(place, number, variable, shape);
  }
  void count(std::string const& layer, std::vector<Index> const& shape) { contents_.count(layer, shape); }
  void set(std::string const& weight, std::vector<float> values);
  /// The layer `name`, and each layer name.PART, shares the weights of the layer `first`, or first.PART.
  void share(std::string name, std::string first) { shared_.push_back({std::move(name), std::move(first)}); }

  persist::Model model(std::string const& name, std::vector<Value> const& outputs);

 private:
  template <class L>
  Value append(std::string const& name, L const& layer, std::vector<Value> const& xs, auto const& shape) {
    dynamic::LayerConfig config{name, layer};
    if (std::string const first = first_of(name); !first.empty()) {
      for (auto const& parameter : parameters_of(layer, xs[0].shape))
        config.params.push_back({.name = first + std::string{parameter.suffix}});
    }
    for (Value const& x : xs) config.inputs.push_back(x.name);
    config.outputs = {name};
    Value value{name, {}};
    with_context([&] { value.shape = shape(); }, [&](Error& error) { error.in_layer(name); });
    layers_.add_layer(std::move(config));
    return value;
  }

  /// The name of the first layer with the weights of this one, which may be its own; empty if it shares them with no
  /// other.
  std::string first_of(std::string name) const;

  struct Sharing {
    std::string name, first;
  };
  Contents& contents_;
  dynamic::SequentialConfig layers_;
  std::vector<Sharing> shared_;         // those inside others come later
  Weights weights_, weights_of_first_;  // weights_of_first_: of layers with which others share them
};

/// A layer as the config describes it.
struct Layer {
  std::string kind;  // its class: "Conv2D"
  std::string name;
  Node config;
  Place place;
  std::optional<Node> keywords = {};  // the other arguments of its call, besides the values that it reads
};

/// Whether layers of this class are known.
bool is_known(std::string const& kind);
/// Adds a layer of a class that is known, with its weights.
Value add_layer(Builder& builder, Layer const& layer, std::vector<Value> inputs);

/// The numbers of a field that has one number, or one for each of `count` axes.
std::vector<Index> numbers(Node const& config, std::string_view key, std::size_t count, Index least = 1);
PerAxis per_axis(std::vector<Index> const& numbers);  // of one to three axes
bool is_same(Node const& config);                     // whether the padding is "same", and not "valid"
void expect_channels_last(Node const& config);
void expect_sequence(Layer const& layer, Value const& x);

constexpr Index max_size = Index{1} << 24;  // of everything that a layer has: units, filters, extents

}  // namespace coldpress::convert::keras
