// Keras' convolutions and poolings.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

/// Where windows with this padding are on an axis.
struct Padding {
  Index before = 0, after = 0;
};
Padding padding_of(Node const& config, Index size, Index window, Index stride) {
  if (!is_same(config)) return {};
  auto const [before, after] = same_padding(size, window, stride);
  return {before, after};
}

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
Value convolve(Builder& builder, Node const& config, std::string const& name, Value x, Convolution convolution) {
  auto const kernel = numbers(config, "kernel_size", 2), strides = numbers(config, "strides", 2),
             dilation = numbers(config, "dilation_rate", 2);
  Padding const rows = padding_of(config, x.shape[1], (kernel[0] - 1) * dilation[0] + 1, strides[0]),
                columns = padding_of(config, x.shape[2], (kernel[1] - 1) * dilation[1] + 1, strides[1]);
  convolution.filter_shape = {kernel[0], kernel[1]};
  convolution.stride = {strides[0], strides[1]};
  convolution.dilation = {dilation[0], dilation[1]};
  if (rows.before == rows.after && columns.before == columns.after) {
    convolution.padding = {rows.before, columns.before};
  } else {
    x = builder.add(name + ".pad", Pad{.before = {rows.before, columns.before}, .after = {rows.after, columns.after}},
                    x);
  }
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

/// Our convolution of a sequence is causal: its windows end where Keras' do only after some of its answers, and with a
/// stride only if there are some more zeros in front.
Value add_conv1d(Builder& builder, Layer const& layer, Value const& in) {
  Value x = in;
  expect_sequence(layer, x);
  Node const& config = layer.config;
  Index const outputs = config["filters"].integer(1, max_size), groups = config.integer("groups", 1, 1, max_size);
  Index const taps = numbers(config, "kernel_size", 1)[0], stride = numbers(config, "strides", 1)[0],
              dilation = numbers(config, "dilation_rate", 1)[0], past = (taps - 1) * dilation, steps = x.shape[0];
  if (x.shape[1] % groups != 0) config["groups"].expected("a divisor of " + std::to_string(x.shape[1]) + " features");
  bool const causal = config["padding"].text() == "causal";
  Padding const padding = causal ? Padding{past, 0} : padding_of(config, steps, past + 1, stride);
  Index const windows = (padding.before + steps + padding.after - past - 1) / stride + 1;
  if (padding.before + steps + padding.after <= past)
    config.refuse<UnsupportedError>("reaches over " + std::to_string(past + 1) + " steps, and there are " +
                                    std::to_string(steps));
  Index const late = past - padding.before, zeros = (stride - late % stride) % stride, first = (late + zeros) / stride;
  if (zeros > 0 || padding.after > 0)
    x = builder.add(layer.name + ".pad", Pad{.axis = 0, .before = {zeros, 0}, .after = {padding.after, 0}}, x);
  bool const bias = uses_bias(builder, layer, layer.name, outputs);
  builder.set(layer.name + "-0",
              outputs_first(builder.read(layer.place, 0, "kernel", {taps, x.shape[1] / groups, outputs})));
  Value const y = builder.add(layer.name,
                              Convolution{.num_output = outputs,
                                          .filter_shape = taps,
                                          .stride = stride,
                                          .dilation = dilation,
                                          .groups = groups,
                                          .has_bias = bias},
                              x);
  if (first == 0 && y.shape[0] == windows) return y;
  return builder.add(layer.name + ".slice",
                     Slice{.axis = 0, .begin = static_cast<int>(first), .end = static_cast<int>(first + windows)}, y);
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
  Pooling pooling{.mode = mode, .filter_shape = {size[0], size[1]}, .stride = {strides[0], strides[1]}};
  if (!is_same(config)) return builder.add(name, pooling, x);
  // Windows over the edges are cut off there; one value more behind than in front is what rounding up means.
  Index padding[2] = {}, answers[2] = {};
  for (int a = 0; a < 2; ++a) {
    auto const axis = static_cast<std::size_t>(a);
    padding[a] = same_padding(x.shape[a + 1], size[axis], strides[axis]).first;
    answers[a] = (x.shape[a + 1] + strides[axis] - 1) / strides[axis];
  }
  pooling.padding = {padding[0], padding[1]};
  Shape const wanted{x.shape[0], answers[0], answers[1]};
  if (pooling.output_shape(x.shape) != wanted) pooling.rounding = Rounding::ceil;
  if (pooling.output_shape(x.shape) != wanted)
    config.refuse<UnsupportedError>("pools " + to_string(x.shape) + " to " + to_string(wanted) +
                                    ", for which pooling has no padding");
  return builder.add(name, pooling, x);
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
