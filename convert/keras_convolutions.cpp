// Keras' convolutions and poolings.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

void expect_image(Layer const& layer, Value const& x) {
  if (!x.is_image()) layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image");
  expect_channels_last(layer.config);
}
void expect_sequence(Layer const& layer, Value const& x) {
  if (!x.is_sequence())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected a sequence {steps, features}");
  expect_channels_last(layer.config);
}

/// Adds a convolution of an image with the config's windows.
Value convolve(Builder& builder, Node const& config, std::string const& name, Value const& x, Convolution convolution) {
  auto const kernel = numbers(config, "kernel_size", 2), strides = numbers(config, "strides", 2),
             dilation = numbers(config, "dilation_rate", 2);
  convolution.filter_shape = {kernel[0], kernel[1]};
  convolution.stride = {strides[0], strides[1]};
  convolution.dilation = {dilation[0], dilation[1]};
  convolution.same = is_same(config);
  return builder.add(name, convolution, x);
}

bool uses_bias(Builder& builder, Layer const& layer, std::string const& name, Index outputs, std::size_t number = 1) {
  bool const has = layer.config.flag("use_bias", true);
  if (has) builder.set(name + "-0-bias", builder.read(layer.place, number, "bias", {outputs}).values);
  return has;
}

}  // namespace

Value add_conv2d(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size), groups = config.integer("groups", 1, 1, max_size);
  auto const kernel = numbers(config, "kernel_size", 2);
  if (x.shape[0] % groups != 0) config["groups"].expected("a divisor of " + std::to_string(x.shape[0]) + " channels");
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  builder.set(layer.name + "-0", outputs_first(builder.read(layer.place, 0, "kernel",
                                                            {kernel[0], kernel[1], x.shape[0] / groups, outputs})));
  return convolve(builder, config, layer.name, x, {.num_output = outputs, .groups = groups, .has_bias = bias});
}

Value add_depthwise(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  Index const channels = x.shape[0], factor = layer.config.integer("depth_multiplier", 1, 1, max_size);
  auto const kernel = numbers(layer.config, "kernel_size", 2);
  Array const filters = builder.read(layer.place, 0, "kernel", {kernel[0], kernel[1], channels, factor});
  builder.set(layer.name + "-0", permuted(filters, {2, 3, 0, 1}));
  bool const bias = uses_bias(builder, layer, layer.name, channels * factor);
  return convolve(builder, layer.config, layer.name, x,
                  {.num_output = channels * factor, .groups = channels, .has_bias = bias});
}

Value add_separable(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  Node const& config = layer.config;
  Index const channels = x.shape[0], factor = config.integer("depth_multiplier", 1, 1, max_size),
              outputs = config["filters"].integer(1, max_size);
  auto const kernel = numbers(config, "kernel_size", 2);
  std::string const depthwise = layer.name + ".depthwise";
  builder.set(depthwise + "-0",
              permuted(builder.read(layer.place, 0, "depthwise_kernel", {kernel[0], kernel[1], channels, factor}),
                       {2, 3, 0, 1}));
  Value const filtered =
      convolve(builder, config, depthwise, x, {.num_output = channels * factor, .groups = channels, .has_bias = false});
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 1, "pointwise_kernel", {1, 1, channels * factor, outputs})));
  bool const bias = uses_bias(builder, layer, layer.name, outputs, 2);
  return builder.add(layer.name, Convolution{.num_output = outputs, .filter_shape = 1, .has_bias = bias}, filtered);
}

Value add_conv1d(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence(layer, x);
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size), groups = config.integer("groups", 1, 1, max_size);
  Index const taps = numbers(config, "kernel_size", 1)[0], stride = numbers(config, "strides", 1)[0],
              dilation = numbers(config, "dilation_rate", 1)[0], reach = (taps - 1) * dilation + 1;
  if (x.shape[1] % groups != 0) config["groups"].expected("a divisor of " + std::to_string(x.shape[1]) + " features");
  bool const causal = config["padding"].text() == "causal", same = !causal && is_same(config);
  if (!causal && !same && x.shape[0] < reach)
    config.refuse<UnsupportedError>("reaches over " + std::to_string(reach) + " steps, and there are " +
                                    std::to_string(x.shape[0]));
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 0, "kernel", {taps, x.shape[1] / groups, outputs})));
  return builder.add(layer.name,
                     Convolution{.num_output = outputs,
                                 .filter_shape = taps,
                                 .stride = stride,
                                 .same = same,
                                 .causal = causal,
                                 .dilation = dilation,
                                 .groups = groups,
                                 .has_bias = bias},
                     x);
}

Value add_conv2d_transpose(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size);
  auto const kernel = numbers(config, "kernel_size", 2), strides = numbers(config, "strides", 2);
  if (numbers(config, "dilation_rate", 2) != std::vector<Index>{1, 1})
    config["dilation_rate"].refuse<UnsupportedError>("is not 1");
  if (auto const padding = config.find_value("output_padding"))
    padding->refuse<UnsupportedError>("is given; only models that leave it out are read");
  // What is cut off on both sides of an axis, or is missing behind it.
  Index before[2] = {}, after[2] = {}, missing[2] = {};
  for (std::size_t a = 0; a < 2; ++a) {
    Index const over = kernel[a] - strides[a];
    missing[a] = std::max<Index>(0, -over);
    if (is_same(config) && over > 0) before[a] = over / 2, after[a] = over - over / 2;
  }
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 0, "kernel", {kernel[0], kernel[1], outputs, x.shape[0]})));
  bool const even = before[0] == after[0] && before[1] == after[1];
  Value y = builder.add(layer.name,
                        ConvolutionTranspose{.num_output = outputs,
                                             .filter_shape = {kernel[0], kernel[1]},
                                             .stride = {strides[0], strides[1]},
                                             .padding = even ? PerAxis{before[0], before[1]} : PerAxis{0},
                                             .output_padding = {missing[0], missing[1]},
                                             .has_bias = bias},
                        x);
  for (int a = 0; a < 2 && !even; ++a) {
    y = builder.add(layer.name + (a == 0 ? ".rows" : ".columns"),
                    Slice{.axis = a + 1, .begin = static_cast<int>(before[a]), .end = static_cast<int>(-after[a])}, y);
  }
  return y;
}

namespace {

Value pool(Builder& builder, Node const& config, std::string const& name, Value const& x, std::vector<Index> size,
           std::vector<Index> strides, PoolingMode mode) {
  return builder.add(name,
                     Pooling{.mode = mode,
                             .filter_shape = {size[0], size[1]},
                             .stride = {strides[0], strides[1]},
                             .same = is_same(config)},
                     x);
}

std::vector<Index> strides_of(Node const& config, std::vector<Index> const& size) {
  return config.find_value("strides") ? numbers(config, "strides", size.size()) : size;
}

}  // namespace

Value add_pooling2d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode) {
  expect_image(layer, x);
  auto const size = numbers(layer.config, "pool_size", 2);
  return pool(builder, layer.config, layer.name, x, size, strides_of(layer.config, size), mode);
}

/// The steps of each feature are the rows of an image with one column.
Value add_pooling1d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode) {
  expect_sequence(layer, x);
  auto const size = numbers(layer.config, "pool_size", 1), strides = strides_of(layer.config, size);
  std::string const& name = layer.name;
  Value const rows = builder.add(name + ".features_first", Permute{{1, 0}}, x);
  Value const image = builder.add(name + ".image", Reshape{{x.shape[1], x.shape[0], 1}}, rows);
  Value const pooled = pool(builder, layer.config, name + ".pool", image, {size[0], 1}, {strides[0], 1}, mode);
  Value const flat = builder.add(name + ".rows", Reshape{{pooled.shape[0], pooled.shape[1]}}, pooled);
  return builder.add(name, Permute{{1, 0}}, flat);
}

}  // namespace coldpress::convert::keras
