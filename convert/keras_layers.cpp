// The layers of Keras that are known, by their classes.
#include "keras_builder.hpp"
#include "keras_convolutions.hpp"
#include "keras_recurrent.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace coldpress::convert::keras {
namespace {

using Inputs = std::vector<Value>;

/// The name of a function or of a class, which may be an object that says more.
std::string name_of(Node const& activation) {
  if (activation.is_null()) return "linear";
  if (activation.is_text()) return activation.text();
  if (auto const inner = activation.find_value("config"); inner && inner->is_text()) return inner->text();
  return activation["class_name"].text();
}

Value softmax(Builder& builder, std::string const& name, Value const& x, bool logarithm) {
  if (x.is_image() || x.is_sequence())
    return builder.add(name, SoftmaxOver{.axis = x.is_image() ? 0 : -1, .logarithm = logarithm}, x);
  return logarithm ? builder.add(name, LogSoftmax{}, x) : builder.add(name, Softmax{}, x);
}

/// What Keras calls by these names, with the numbers that it has there.
Value activate(Builder& builder, Node const& activation, std::string const& name, Value const& x) {
  std::string const called = name_of(activation);
  auto const add = [&](auto const& op) {
    Value y = builder.add(name, op, x);
    y.image = x.image;
    return y;
  };
  if (called == "linear") return x;
  if (called == "relu") return add(ReLU{});
  if (called == "relu6") return add(Clip{.min = 0, .max = 6});
  if (called == "tanh") return add(TanH{});
  if (called == "sigmoid") return add(Sigmoid{});
  if (called == "elu") return add(ELU{});
  if (called == "gelu") return add(GELU{});
  if (called == "silu" || called == "swish") return add(SiLU{});
  if (called == "softplus") return add(Softplus{});
  if (called == "softsign") return add(Softsign{});
  if (called == "exponential") return add(Exponential{});
  if (called == "mish") return add(Mish{});
  if (called == "leaky_relu") return add(LeakyReLU{.slope = 0.2f});
  if (called == "hard_silu" || called == "hard_swish") return add(HardSwish{});
  if (called == "log_sigmoid") return add(LogSigmoid{});
  if (called == "hard_tanh") return add(HardTanh{});
  if (called == "softmax" || called == "log_softmax")
    return softmax(builder, name, builder.settled(name, x), called == "log_softmax");
  activation.refuse<UnsupportedError>("got the activation " + json::described(activation.json()) +
                                      ", which is not known");
}
Value activated(Builder& builder, Layer const& layer, Value const& x) {
  auto const activation = layer.config.find_value("activation");
  return activation ? activate(builder, *activation, layer.name + ".activation", x) : x;
}

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
  Index const features = x.is_image() ? x.shape[0] : x.shape.last();
  Array kernel = builder.read(layer.place, 0, "kernel", {features, units});
  bool const bias = layer.config.flag("use_bias", true);
  if (bias) builder.set(layer.name + "-0-bias", builder.read(layer.place, 1, "bias", {units}).values);
  if (x.is_flattened_image()) {  // its rows are in the order height, width, channels
    kernel.shape = {x.image[1], x.image[2], x.image[0], units};
    builder.set(layer.name + "-0", permuted(kernel, {3, 2, 0, 1}));
  } else {
    builder.set(layer.name + "-0", outputs_first(kernel));
  }
  if (x.is_image())
    return builder.add(layer.name, Convolution{.num_output = units, .filter_shape = 1, .has_bias = bias}, x);
  return builder.add(layer.name, Linear{.output_size = units, .has_bias = bias, .last_axis = x.is_sequence()}, x);
}

/// The weights of a normalisation: gamma and beta, if it has them, and then `more`.
void set_factors(Builder& builder, Layer const& layer, Index channels, std::size_t& number) {
  auto const set = [&](char const* flag, char const* variable, char const* suffix, float otherwise) {
    auto const count = static_cast<std::size_t>(channels);
    builder.set(layer.name + suffix, layer.config.flag(flag, true)
                                         ? builder.read(layer.place, number++, variable, {channels}).values
                                         : std::vector<float>(count, otherwise));
  };
  set("scale", "gamma", "-0", 1);
  set("center", "beta", "-0-bias", 0);
}

Value add_batch_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  Index const channels = x.is_image() ? x.shape[0] : x.shape.last();
  std::size_t number = 0;
  set_factors(builder, layer, channels, number);
  builder.set(layer.name + "-0-mean", builder.read(layer.place, number, "moving_mean", {channels}).values);
  builder.set(layer.name + "-0-variance", builder.read(layer.place, number + 1, "moving_variance", {channels}).values);
  BatchNormalization normalization{.epsilon = layer.config.number("epsilon", 1e-3f), .axis = x.is_image() ? 0 : -1};
  // Keras says how much of the average stays.
  float const moved = 1 - layer.config.number("momentum", 0.99f);
  if (moved > 0 && moved < 1) normalization.momentum = moved;
  return builder.add(layer.name, normalization, x);
}

Value add_layer_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  if (x.is_image()) layer.config.refuse<UnsupportedError>("normalises the channels of an image, " + to_string(x.shape));
  if (layer.config.flag("rms_scaling", false)) layer.config["rms_scaling"].refuse<UnsupportedError>("is true");
  std::size_t number = 0;
  set_factors(builder, layer, x.shape.last(), number);
  return builder.add(layer.name, LayerNormalization{.epsilon = layer.config.number("epsilon", 1e-3f)}, x);
}

Value add_group_normalization(Builder& builder, Layer const& layer, Value const& x) {
  expect_last_axis(layer.config, x);
  if (!x.is_image()) layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image");
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
  builder.set(layer.name + "-0", builder.read(layer.place, 0, "embeddings", {words, features}).values);
  return builder.add(layer.name, Embedding{.vocabulary = words, .features = features}, x);
}

/// One slope for each channel or feature, or one for all.
Value add_prelu(Builder& builder, Layer const& layer, Value const& x) {
  std::vector<Index> shape(x.shape.extents, x.shape.extents + x.shape.rank());
  if (x.is_image()) std::ranges::rotate(shape, shape.begin() + 1);
  if (auto const shared = layer.config.find_value("shared_axes")) {
    for (std::size_t i = 0; i < shared->size(); ++i) {
      Index const axis = (*shared)[i].integer(-8, 8), rank = x.shape.rank(), place = axis < 0 ? axis + rank : axis - 1;
      if (place < 0 || place >= rank) (*shared)[i].refuse("is no axis of " + to_string(x.shape));
      shape[static_cast<std::size_t>(place)] = 1;
    }
  }
  if (std::any_of(shape.begin(), shape.end() - 1, [](Index extent) { return extent != 1; }))
    layer.config.refuse<UnsupportedError>(
        "has a slope for each place; those of all places must be shared (shared_axes)");
  builder.set(layer.name + "-0", builder.read(layer.place, 0, "alpha", shape).values);
  return builder.add(layer.name, PReLU{.num_parameters = shape.back(), .axis = x.is_image() ? 0 : -1}, x);
}

Value add_relu(Builder& builder, Layer const& layer, Value const& x) {
  float const slope = layer.config.number("negative_slope", 0);
  auto const most = layer.config.find_value("max_value");
  if (layer.config.number("threshold", 0) != 0 || (slope != 0 && most))
    layer.config.refuse<UnsupportedError>("has a threshold, or a slope and a greatest value");
  if (most) return builder.add(layer.name, Clip{.min = 0, .max = layer.config.number("max_value", 0)}, x);
  return slope != 0 ? builder.add(layer.name, LeakyReLU{.slope = slope}, x) : builder.add(layer.name, ReLU{}, x);
}

Value add_flatten(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  Value y = builder.add(layer.name, Flatten{}, x);
  bool const matters = x.is_image() && x.shape[0] > 1 && x.shape[1] * x.shape[2] > 1;
  y.image = matters ? x.shape : x.image;
  return y;
}

Value add_reshape(Builder& builder, Layer const& layer, Value const& x) {
  Node const target = layer.config["target_shape"];
  if (target.size() < 1 || target.size() > 3)
    target.refuse<UnsupportedError>("has " + std::to_string(target.size()) + " extents, expected 1 to 3");
  Shape shape{};
  Index known = 1;
  int open = -1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    Index const extent = target[i].integer(-1, max_size);
    shape.extents[i] = extent < 0 ? 1 : extent;
    if (extent < 0) open = static_cast<int>(i);
    known *= shape.extents[i];
    if (extent == 0 || known > Index{1} << 40) target[i].expected("an extent of the values that come in");
  }
  if (open >= 0) shape.extents[open] = std::max<Index>(1, x.shape.size() / known);
  return builder.our_order(layer.name, builder.add(layer.name, Reshape{shape}, builder.keras_order(layer.name, x)));
}

Value add_permute(Builder& builder, Layer const& layer, Value const& x) {
  Node const dims = layer.config["dims"];
  if (static_cast<int>(dims.size()) != x.shape.rank()) dims.expected("a list of " + std::to_string(x.shape.rank()));
  int order[Axes::max] = {};
  for (std::size_t i = 0; i < dims.size(); ++i) order[i] = static_cast<int>(dims[i].integer(1, x.shape.rank()) - 1);
  Permute const permute{Axes::of(order, static_cast<int>(dims.size()))};
  return builder.our_order(layer.name, builder.add(layer.name, permute, builder.keras_order(layer.name, x)));
}

Value add_global_pooling(Builder& builder, Layer const& layer, Value const& x, ReduceOperation operation) {
  expect_channels_last(layer.config);
  if (layer.config.flag("keepdims", false)) layer.config["keepdims"].refuse<UnsupportedError>("is true");
  if (x.is_sequence()) return builder.add(layer.name, Reduce{operation, 0}, x);
  if (!x.is_image())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image or a sequence");
  if (operation == ReduceOperation::mean) return builder.add(layer.name, GlobalAveragePooling{}, x);
  return builder.add(layer.name, Reduce{operation, -1}, builder.add(layer.name + ".rows", Reduce{operation, -1}, x));
}

/// Numbers for before and after on both axes of an image: [[before, after], [before, after]], one for each axis, or one
/// for all.
std::array<Index, 4> borders(Node const& field) {
  std::array<Index, 4> all{};
  auto const pair = [&](Node const& of, std::size_t axis) {
    bool const list = of.is_list();
    if (list && of.size() != 2) of.expected("a number, or a list of 2");
    for (std::size_t side = 0; side < 2; ++side) all[2 * axis + side] = (list ? of[side] : of).integer(0, max_size);
  };
  if (field.is_list() && field.size() != 2) field.expected("a number, or a list of 2");
  for (std::size_t axis = 0; axis < 2; ++axis) pair(field.is_list() ? field[axis] : field, axis);
  return all;
}

Value add_zero_padding(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  if (x.is_sequence()) {
    auto const zeros = numbers(layer.config, "padding", 2, 0);
    return builder.add(layer.name, Pad{.axis = 0, .before = {zeros[0], 0}, .after = {zeros[1], 0}}, x);
  }
  auto const zeros = borders(layer.config["padding"]);
  return builder.add(layer.name, Pad{.before = {zeros[0], zeros[2]}, .after = {zeros[1], zeros[3]}}, x);
}

Value add_cropping2d(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  auto const cut = borders(layer.config["cropping"]);
  auto const slice = [&](int axis, Index before, Index after) {
    return Slice{.axis = axis, .begin = static_cast<int>(before), .end = static_cast<int>(-after)};
  };
  return builder.add(layer.name, slice(2, cut[2], cut[3]),
                     builder.add(layer.name + ".rows", slice(1, cut[0], cut[1]), x));
}

Value add_up_sampling(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  if (!x.is_image()) layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image");
  auto const factor = numbers(layer.config, "size", 2);
  Node const interpolation = layer.config["interpolation"];
  if (interpolation.text() != "nearest" && interpolation.text() != "bilinear")
    interpolation.refuse<UnsupportedError>("got " + json::described(interpolation.json()) +
                                           ", expected \"nearest\" or \"bilinear\"");
  return builder.add(layer.name,
                     Resize{.mode = interpolation.text() == "nearest" ? ResizeMode::nearest : ResizeMode::linear,
                            .factor = {factor[0], factor[1]}},
                     x);
}

/// Repeats a value where the shape has more than 1.
Value expanded(Builder& builder, std::string const& name, Value const& x, Shape const& shape) {
  return x.shape == shape ? x : builder.add(name, Expand{shape}, x);
}

template <class L>
Value fold(Builder& builder, Layer const& layer, Inputs const& in) {
  Value sum = in[0];
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (in[i].shape.rank() != sum.shape.rank())
      layer.config.refuse<UnsupportedError>("joins " + to_string(sum.shape) + " and " + to_string(in[i].shape));
    Shape wide = sum.shape;
    for (int a = 0; a < wide.rank(); ++a) wide.extents[a] = std::max(wide.extents[a], in[i].shape.extents[a]);
    bool const last = i + 1 == in.size();
    std::string const name = last ? layer.name : layer.name + "." + std::to_string(i);
    sum = builder.join(
        name, L{}, {expanded(builder, name + ".first", sum, wide), expanded(builder, name + ".second", in[i], wide)});
  }
  return sum;
}

Value add_average(Builder& builder, Layer const& layer, Inputs const& in) {
  Layer sum = layer;
  sum.name += ".sum";
  return builder.add(layer.name, Power{.scale = 1.0f / static_cast<float>(in.size())}, fold<Add>(builder, sum, in));
}

/// Axes of Keras count the batch, and the channels of images are first here.
Value add_concatenate(Builder& builder, Layer const& layer, Inputs const& in) {
  int const rank = in[0].shape.rank();
  Index const given = layer.config.integer("axis", -1, -rank, rank), axis = given < 0 ? given + rank : given - 1;
  if (axis < 0) layer.config["axis"].expected("an axis of the samples");
  if (in.size() > 8)
    layer.config.refuse<UnsupportedError>("joins " + std::to_string(in.size()) + " values, expected at most 8");
  return builder.join(layer.name, Concat{static_cast<int>(rank == 3 ? (axis + 1) % 3 : axis)}, in);
}

// What reads one value, and what reads several.
using One = Value (*)(Builder&, Layer const&, Value const&);
using Several = Value (*)(Builder&, Layer const&, Inputs const&);

struct Kind {
  std::string_view name;
  One one = nullptr;
  Several several = nullptr;
  bool knows_order = false;  // whether it knows of flattened images
  bool takes_each = false;   // whether it takes each value by itself, so that their order does not matter
};

template <PoolingMode mode>
Value add_pooling(Builder& builder, Layer const& layer, Value const& x) {
  return layer.kind.ends_with("1D") ? add_pooling1d(builder, layer, x, mode) : add_pooling2d(builder, layer, x, mode);
}
template <ReduceOperation operation>
Value add_global(Builder& builder, Layer const& layer, Value const& x) {
  return add_global_pooling(builder, layer, x, operation);
}
/// Acts in training alone.
Value pass(Builder&, Layer const&, Value const& x) { return x; }
Value add_conv1d_of(Builder& builder, Layer const& layer, Value const& x) { return add_conv1d(builder, layer, x); }

constexpr Kind kinds[] = {
    {"Dense", add_dense, nullptr, true},
    {"Activation",
     [](Builder& b, Layer const& l, Value const& x) { return activate(b, l.config["activation"], l.name, x); }, nullptr,
     true},
    {"ReLU", add_relu, nullptr, false, true},
    {"LeakyReLU",
     [](Builder& b, Layer const& l, Value const& x) {
       float const slope = l.config.number("negative_slope", l.config.number("alpha", 0.3f));
       return b.add(l.name, LeakyReLU{.slope = slope}, x);
     },
     nullptr, false, true},
    {"ELU",
     [](Builder& b, Layer const& l, Value const& x) {
       return b.add(l.name, ELU{.alpha = l.config.number("alpha", 1)}, x);
     },
     nullptr, false, true},
    {"Softmax",
     [](Builder& b, Layer const& l, Value const& x) {
       expect_last_axis(l.config, x);
       return softmax(b, l.name, x, false);
     }},
    {"PReLU", add_prelu},
    {"Dropout",
     [](Builder& b, Layer const& l, Value const& x) {
       return b.add(l.name, Dropout{.probability = l.config.number("rate", 0.5f)}, x);
     },
     nullptr, false, true},
    {"SpatialDropout1D", pass, nullptr, false, true},
    {"SpatialDropout2D", pass, nullptr, false, true},
    {"GaussianNoise", pass, nullptr, false, true},
    {"GaussianDropout", pass, nullptr, false, true},
    {"AlphaDropout", pass, nullptr, false, true},
    {"ActivityRegularization", pass, nullptr, false, true},
    {"Flatten", add_flatten, nullptr, true},
    {"Reshape", add_reshape},
    {"Permute", add_permute},
    {"Rescaling",
     [](Builder& b, Layer const& l, Value const& x) {
       return b.add(l.name, Power{.scale = l.config.number("scale", 1), .shift = l.config.number("offset", 0)}, x);
     },
     nullptr, false, true},
    {"BatchNormalization", add_batch_normalization},
    {"LayerNormalization", add_layer_normalization},
    {"GroupNormalization", add_group_normalization},
    {"Embedding", add_embedding},
    {"Conv1D", add_conv1d_of},
    {"Conv2D", add_conv2d},
    {"DepthwiseConv2D", add_depthwise},
    {"SeparableConv2D", add_separable},
    {"Conv2DTranspose", add_conv2d_transpose},
    {"MaxPooling1D", add_pooling<PoolingMode::max>},
    {"MaxPooling2D", add_pooling<PoolingMode::max>},
    {"AveragePooling1D", add_pooling<PoolingMode::average>},
    {"AveragePooling2D", add_pooling<PoolingMode::average>},
    {"GlobalAveragePooling1D", add_global<ReduceOperation::mean>},
    {"GlobalAveragePooling2D", add_global<ReduceOperation::mean>},
    {"GlobalMaxPooling1D", add_global<ReduceOperation::max>},
    {"GlobalMaxPooling2D", add_global<ReduceOperation::max>},
    {"ZeroPadding1D", add_zero_padding},
    {"ZeroPadding2D", add_zero_padding},
    {"Cropping2D", add_cropping2d},
    {"UpSampling2D", add_up_sampling},
    {"LSTM", add_recurrent},
    {"GRU", add_recurrent},
    {"SimpleRNN", add_recurrent},
    {"Bidirectional", add_bidirectional},
    {"Add", nullptr, fold<Add>},
    {"Subtract", nullptr, fold<Subtract>},
    {"Multiply", nullptr, fold<Multiply>},
    {"Maximum", nullptr, fold<Max>},
    {"Minimum", nullptr, fold<Min>},
    {"Average", nullptr, add_average},
    {"Concatenate", nullptr, add_concatenate}};

Kind const* find(std::string_view kind) {
  auto const found = std::ranges::find(kinds, kind, &Kind::name);
  return found == std::end(kinds) ? nullptr : found;
}

}  // namespace

bool is_known(std::string const& kind) { return find(kind) != nullptr; }

Value add_layer(Builder& builder, Layer const& layer, std::vector<Value> inputs) {
  Kind const& kind = *find(layer.kind);
  std::size_t const least = kind.one ? 1 : 2, most = kind.one ? 1 : inputs.size();
  if (inputs.size() < least || inputs.size() > most)
    layer.config.refuse<UnsupportedError>("reads " + std::to_string(inputs.size()) + " values");
  for (std::size_t i = 0; i < inputs.size() && !kind.knows_order && !kind.takes_each; ++i)
    inputs[i] = builder.settled(layer.name + ".input" + (i ? std::to_string(i) : ""), inputs[i]);
  if (kind.several) return kind.several(builder, layer, inputs);
  Value y = kind.one(builder, layer, inputs[0]);
  if (kind.takes_each) y.image = inputs[0].image;
  bool const activates = layer.kind == "Dense" || layer.kind.find("Conv") != std::string::npos;
  return activates ? activated(builder, layer, y) : y;
}

}  // namespace coldpress::convert::keras
