// Keras' layers with one matrix, and normalisations.
#include "complement.hpp"
#include "keras_kinds.hpp"

#include <algorithm>
#include <cmath>

namespace coldpress::convert::keras {
namespace {

/// Sets gamma and beta of a normalisation, if it has them. `number` becomes the number of the variable after them.
void set_factors(Builder& builder, Layer const& layer, Index channels, std::size_t& number) {
  auto const set = [&](char const* flag, char const* variable, char const* suffix, float otherwise) {
    if (layer.config.flag(flag, true)) {
      builder.set(layer.name + suffix, builder.read(layer.place, number++, variable, {channels}).values);
    } else {
      builder.count(layer.name, {channels});
      builder.set(layer.name + suffix, std::vector<float>(static_cast<std::size_t>(channels), otherwise));
    }
  };
  set("scale", "gamma", "-0", 1);
  set("center", "beta", "-0-bias", 0);
}

}  // namespace

/// Whether a field names the last axis, which Keras counts with the batch.
void expect_last_axis(Node const& config, Value const& x) {
  auto const axis = config.find_value("axis");
  if (!axis) return;
  Node const one = axis->is_list() && axis->size() == 1 ? (*axis)[0] : *axis;
  Index const number = one.integer(-8, 8);
  if (number != -1 && number != x.shape.rank())
    one.refuse<UnsupportedError>("is " + std::to_string(number) + ", expected the last axis");
}

Value add_dense(Builder& builder, Layer const& layer, Value const& x) {
  Index const units = layer.config["units"].integer(1, max_size);
  Index const features = x.has_channels_first() ? x.shape[0] : x.shape.last();
  Array kernel = builder.read(layer.place, 0, "kernel", {features, units});
  bool const bias = layer.config.flag("use_bias", true);
  if (bias) builder.set(layer.name + "-0-bias", builder.read(layer.place, 1, "bias", {units}).values);
  if (x.is_flattened_image()) {  // its rows are in the order of the kernel of a convolution
    kernel.shape.assign(x.image.extents + 1, x.image.extents + x.image.rank());
    kernel.shape.insert(kernel.shape.end(), {x.image[0], units});
  }
  builder.set(layer.name + "-0", outputs_first(kernel));
  if (x.has_channels_first())
    return builder.add(layer.name, Convolution{.num_output = units, .filter_shape = 1, .has_bias = bias}, x);
  return builder.add(layer.name, Linear{.output_size = units, .has_bias = bias, .last_axis = x.is_sequence()}, x);
}

Value add_batch_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  Index const channels = x.has_channels_first() ? x.shape[0] : x.shape.last();
  std::size_t number = 0;
  set_factors(builder, layer, channels, number);
  builder.set(layer.name + "-0-mean", builder.read(layer.place, number, "moving_mean", {channels}).values);
  builder.set(layer.name + "-0-variance", builder.read(layer.place, number + 1, "moving_variance", {channels}).values);
  BatchNormalization normalization{.epsilon = layer.config.number("epsilon", 1e-3f),
                                   .axis = x.has_channels_first() ? 0 : -1};
  // Keras says how much of the average stays.
  float const moved = complement(layer.config.number("momentum", 0.99f));
  if (moved > 0 && moved < 1) normalization.momentum = moved;
  return builder.add(layer.name, normalization, x);
}

/// (x - mean) / deviation with the numbers that `adapt` has found, each step by itself, because their difference is
/// often much smaller than they are.
Value add_fixed_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  for (char const* const given : {"mean", "variance"}) {
    if (auto const field = layer.config.find_value(given))
      field->refuse<UnsupportedError>("is given; only what adapt has found is read");
  }
  if (layer.config.flag("invert", false)) layer.config["invert"].refuse<UnsupportedError>("is true");
  Index const channels = x.has_channels_first() ? x.shape[0] : x.shape.last();
  auto mean = builder.read(layer.place, 0, "mean", {channels}).values,
       variance = builder.read(layer.place, 1, "variance", {channels}).values;
  for (float& each : mean) each = -each;
  for (float& each : variance) each = 1 / std::max(std::sqrt(each), 1e-7f);
  Convolution each{.num_output = channels, .filter_shape = 1, .groups = channels};
  std::string const centred = layer.name + ".centred";
  builder.set(centred + "-0", std::vector<float>(mean.size(), 1));
  builder.set(centred + "-0-bias", std::move(mean));
  Value const y = builder.add(centred, each, x);
  each.has_bias = false;
  builder.set(layer.name + "-0", std::move(variance));
  return builder.add(layer.name, each, y);
}

Value add_layer_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  if (x.has_channels_first())
    layer.config.refuse<UnsupportedError>("normalises the channels of an image or a volume, " + to_string(x.shape));
  if (layer.config.flag("rms_scaling", false)) layer.config["rms_scaling"].refuse<UnsupportedError>("is true");
  std::size_t number = 0;
  set_factors(builder, layer, x.shape.last(), number);
  return builder.add(layer.name, LayerNormalization{.epsilon = layer.config.number("epsilon", 1e-3f)}, x);
}

Value add_group_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  if (!x.has_channels_first())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image or a volume");
  Index const groups = layer.config.integer("groups", 32, -1, max_size);
  std::size_t number = 0;
  set_factors(builder, layer, x.shape[0], number);
  return builder.add(
      layer.name,
      GroupNormalization{.groups = groups > 0 ? groups : x.shape[0], .epsilon = layer.config.number("epsilon", 1e-3f)},
      x);
}

Value add_embedding(Builder& builder, Layer const& layer, Value const& x) {
  Index const words = layer.config["input_dim"].integer(1, max_size),
              features = layer.config["output_dim"].integer(1, max_size);
  if (x.shape.rank() != 1) layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected {words}");
  if (layer.config.flag("mask_zero", false))
    layer.config["mask_zero"].refuse<UnsupportedError>(
        "is true; here an rnn takes the number of steps of each sample as an input");
  builder.set(layer.name + "-0", builder.read(layer.place, 0, "embeddings", {words, features}).values);
  return builder.add(layer.name, Embedding{.vocabulary = words, .features = features}, x);
}

}  // namespace coldpress::convert::keras
