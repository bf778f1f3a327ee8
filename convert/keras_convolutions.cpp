// Keras' convolutions and poolings.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

void expect_image(Layer const& layer, Value const& x) {
  if (!x.is_image()) layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image");
  expect_channels_last(layer.config);
}
void expect_volume(Layer const& layer, Value const& x) {
  if (!x.is_volume())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) +
                                          ", expected {depth, height, width, channels}");
  expect_channels_last(layer.config);
}
void expect_sequence_of_channels(Layer const& layer, Value const& x) {
  expect_sequence(layer, x);
  expect_channels_last(layer.config);
}

/// The number of axes that the windows of an image or a volume slide along.
std::size_t axes_of(Value const& x) { return static_cast<std::size_t>(x.shape.rank() - 1); }

/// Adds a convolution of an image or a volume with the config's windows.
Value convolve(Builder& builder, Node const& config, std::string const& name, Value const& x, Convolution convolution) {
  convolution.filter_shape = per_axis(numbers(config, "kernel_size", axes_of(x)));
  convolution.stride = per_axis(numbers(config, "strides", axes_of(x)));
  convolution.dilation = per_axis(numbers(config, "dilation_rate", axes_of(x)));
  convolution.same = is_same(config);
  return builder.add(name, convolution, x);
}

/// Adds a convolution of a sequence with the config's windows.
Value convolve_steps(Builder& builder, Node const& config, std::string const& name, Value const& x,
                     Convolution convolution) {
  Index const taps = numbers(config, "kernel_size", 1)[0], dilation = numbers(config, "dilation_rate", 1)[0],
              reach = (taps - 1) * dilation + 1;
  convolution.causal = config["padding"].text() == "causal";
  convolution.same = !convolution.causal && is_same(config);
  if (!convolution.causal && !convolution.same && x.shape[0] < reach)
    config.refuse<UnsupportedError>("reaches over " + std::to_string(reach) + " steps, and there are " +
                                    std::to_string(x.shape[0]));
  convolution.filter_shape = taps;
  convolution.stride = numbers(config, "strides", 1)[0];
  convolution.dilation = dilation;
  return builder.add(name, convolution, x);
}

/// The steps of each feature as the rows of an image with one column, and back.
Value as_image(Builder& builder, Layer const& layer, Value const& x) {
  Value const rows = builder.add(layer.name + ".features_first", Permute{{1, 0}}, x);
  return builder.add(layer.name + ".image", Reshape{{x.shape[1], x.shape[0], 1}}, rows);
}
Value as_sequence(Builder& builder, Layer const& layer, Value const& image) {
  Value const rows = builder.add(layer.name + ".rows", Reshape{{image.shape[0], image.shape[1]}}, image);
  return builder.add(layer.name, Permute{{1, 0}}, rows);
}

bool uses_bias(Builder& builder, Layer const& layer, std::string const& name, Index outputs, std::size_t number = 1) {
  bool const has = layer.config.flag("use_bias", true);
  if (has) builder.set(name + "-0-bias", builder.read(layer.place, number, "bias", {outputs}).values);
  return has;
}

/// Adds a convolution of an image or a volume with its weights.
Value add_convolution(Builder& builder, Layer const& layer, Value const& x) {
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size), groups = config.integer("groups", 1, 1, max_size);
  auto kernel = numbers(config, "kernel_size", axes_of(x));
  if (x.shape[0] % groups != 0) config["groups"].expected("a divisor of " + std::to_string(x.shape[0]) + " channels");
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  kernel.push_back(x.shape[0] / groups), kernel.push_back(outputs);
  builder.set(layer.name + "-0", outputs_first(builder.read(layer.place, 0, "kernel", kernel)));
  return convolve(builder, config, layer.name, x, {.num_output = outputs, .groups = groups, .has_bias = bias});
}

}  // namespace

Value add_conv2d(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  return add_convolution(builder, layer, x);
}
Value add_conv3d(Builder& builder, Layer const& layer, Value const& x) {
  expect_volume(layer, x);
  return add_convolution(builder, layer, x);
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
  expect_sequence_of_channels(layer, x);
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size), groups = config.integer("groups", 1, 1, max_size),
              taps = numbers(config, "kernel_size", 1)[0];
  if (x.shape[1] % groups != 0) config["groups"].expected("a divisor of " + std::to_string(x.shape[1]) + " features");
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 0, "kernel", {taps, x.shape[1] / groups, outputs})));
  return convolve_steps(builder, config, layer.name, x, {.num_output = outputs, .groups = groups, .has_bias = bias});
}

Value add_depthwise1d(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence_of_channels(layer, x);
  Index const features = x.shape[1], factor = layer.config.integer("depth_multiplier", 1, 1, max_size),
              taps = numbers(layer.config, "kernel_size", 1)[0];
  builder.set(layer.name + "-0", permuted(builder.read(layer.place, 0, "kernel", {taps, features, factor}), {1, 2, 0}));
  bool const bias = uses_bias(builder, layer, layer.name, features * factor);
  return convolve_steps(builder, layer.config, layer.name, x,
                        {.num_output = features * factor, .groups = features, .has_bias = bias});
}

Value add_separable1d(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence_of_channels(layer, x);
  Node const& config = layer.config;
  Index const features = x.shape[1], factor = config.integer("depth_multiplier", 1, 1, max_size),
              outputs = config["filters"].integer(1, max_size), taps = numbers(config, "kernel_size", 1)[0];
  std::string const depthwise = layer.name + ".depthwise";
  builder.set(depthwise + "-0",
              permuted(builder.read(layer.place, 0, "depthwise_kernel", {taps, features, factor}), {1, 2, 0}));
  Value const filtered = convolve_steps(builder, config, depthwise, x,
                                        {.num_output = features * factor, .groups = features, .has_bias = false});
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 1, "pointwise_kernel", {1, features * factor, outputs})));
  bool const bias = uses_bias(builder, layer, layer.name, outputs, 2);
  return builder.add(layer.name, Convolution{.num_output = outputs, .filter_shape = 1, .has_bias = bias}, filtered);
}

namespace {

/// Adds a transposed convolution of an image or a volume; its weights are set.
Value convolve_transposed(Builder& builder, Node const& config, std::string const& name, Value const& x,
                          std::vector<Index> const& kernel, std::vector<Index> const& strides,
                          ConvolutionTranspose convolution) {
  if (auto const padding = config.find_value("output_padding"))
    padding->refuse<UnsupportedError>("is given; only models that leave it out are read");
  // What is cut off on both sides of an axis, or is missing behind it.
  std::size_t const axes = kernel.size();
  std::vector<Index> before(axes), after(axes), missing(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    Index const over = kernel[a] - strides[a];
    missing[a] = std::max<Index>(0, -over);
    if (is_same(config) && over > 0) before[a] = over / 2, after[a] = over - over / 2;
  }
  bool const even = before == after;
  convolution.filter_shape = per_axis(kernel);
  convolution.stride = per_axis(strides);
  convolution.padding = even ? per_axis(before) : PerAxis{0};
  convolution.output_padding = per_axis(missing);
  Value y = builder.add(name, convolution, x);
  for (std::size_t a = 0; a < axes && !even; ++a) {
    char const* const kept = a + 1 == axes ? ".columns_kept" : a + 2 == axes ? ".rows_kept" : ".planes_kept";
    y = builder.add(
        name + kept,
        Slice{
            .axis = static_cast<int>(a) + 1, .begin = static_cast<int>(before[a]), .end = static_cast<int>(-after[a])},
        y);
  }
  return y;
}

/// The layer for a transposed convolution over `axes` axes; it also sets the biases.
ConvolutionTranspose transposed(Builder& builder, Layer const& layer, std::size_t axes) {
  if (numbers(layer.config, "dilation_rate", axes) != std::vector<Index>(axes, 1))
    layer.config["dilation_rate"].refuse<UnsupportedError>("is not 1");
  Index const outputs = layer.config["filters"].integer(1, max_size);
  return {.num_output = outputs, .has_bias = uses_bias(builder, layer, layer.name, outputs)};
}

/// Adds a transposed convolution of an image or a volume with its weights.
Value add_transposed(Builder& builder, Layer const& layer, Value const& x) {
  Node const& config = layer.config;
  auto const kernel = numbers(config, "kernel_size", axes_of(x));
  ConvolutionTranspose const convolution = transposed(builder, layer, axes_of(x));
  std::vector<Index> shape = kernel;
  shape.push_back(convolution.num_output), shape.push_back(x.shape[0]);
  builder.set(layer.name + "-0", outputs_first(builder.read(layer.place, 0, "kernel", shape)));
  return convolve_transposed(builder, config, layer.name, x, kernel, numbers(config, "strides", axes_of(x)),
                             convolution);
}

}  // namespace

Value add_conv2d_transpose(Builder& builder, Layer const& layer, Value const& x) {
  expect_image(layer, x);
  return add_transposed(builder, layer, x);
}
Value add_conv3d_transpose(Builder& builder, Layer const& layer, Value const& x) {
  expect_volume(layer, x);
  return add_transposed(builder, layer, x);
}

Value add_conv1d_transpose(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence_of_channels(layer, x);
  Node const& config = layer.config;
  Index const taps = numbers(config, "kernel_size", 1)[0], stride = numbers(config, "strides", 1)[0];
  std::string const inner = layer.name + ".transposed";
  Layer own = layer;
  own.name = inner;
  ConvolutionTranspose const convolution = transposed(builder, own, 1);
  Array kernel = builder.read(layer.place, 0, "kernel", {taps, convolution.num_output, x.shape[1]});
  kernel.shape.insert(kernel.shape.begin() + 1, 1);
  builder.set(inner + "-0", outputs_first(kernel));
  return as_sequence(
      builder, layer,
      convolve_transposed(builder, config, inner, as_image(builder, layer, x), {taps, 1}, {stride, 1}, convolution));
}

namespace {

Value pool(Builder& builder, Node const& config, std::string const& name, Value const& x,
           std::vector<Index> const& size, std::vector<Index> const& strides, PoolingMode mode) {
  return builder.add(
      name, Pooling{.mode = mode, .filter_shape = per_axis(size), .stride = per_axis(strides), .same = is_same(config)},
      x);
}

std::vector<Index> strides_of(Node const& config, std::vector<Index> const& size) {
  return config.find_value("strides") ? numbers(config, "strides", size.size()) : size;
}

}  // namespace

Value add_pooling_of(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode) {
  layer.kind.ends_with("3D") ? expect_volume(layer, x) : expect_image(layer, x);
  auto const size = numbers(layer.config, "pool_size", axes_of(x));
  return pool(builder, layer.config, layer.name, x, size, strides_of(layer.config, size), mode);
}

Value add_pooling1d(Builder& builder, Layer const& layer, Value const& x, PoolingMode mode) {
  expect_sequence_of_channels(layer, x);
  auto const size = numbers(layer.config, "pool_size", 1), strides = strides_of(layer.config, size);
  Value const image = as_image(builder, layer, x);
  return as_sequence(builder, layer,
                     pool(builder, layer.config, layer.name + ".pool", image, {size[0], 1}, {strides[0], 1}, mode));
}

}  // namespace coldpress::convert::keras
