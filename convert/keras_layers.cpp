// The layers of Keras that are known, by their classes.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

using Inputs = std::vector<Value>;

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
  return builder.join(layer.name, Concat{static_cast<int>(rank >= 3 ? (axis + 1) % rank : axis)}, in);
}

// The functions for layers that read one value, and for those that read several.
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
  return layer.kind.ends_with("1D") ? add_pooling1d(builder, layer, x, mode) : add_pooling_of(builder, layer, x, mode);
}
template <ReduceOperation operation>
Value add_global(Builder& builder, Layer const& layer, Value const& x) {
  return add_global_pooling(builder, layer, x, operation);
}
/// A layer that acts in training alone is left out.
Value pass(Builder&, Layer const&, Value const& x) { return x; }

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
    {"Identity", pass, nullptr, false, true},
    {"SpatialDropout1D", pass, nullptr, false, true},
    {"SpatialDropout2D", pass, nullptr, false, true},
    {"SpatialDropout3D", pass, nullptr, false, true},
    {"GaussianNoise", pass, nullptr, false, true},
    {"GaussianDropout", pass, nullptr, false, true},
    {"AlphaDropout", pass, nullptr, false, true},
    {"ActivityRegularization", pass, nullptr, false, true},
    {"RandomBrightness", pass, nullptr, false, true},
    {"RandomContrast", pass, nullptr, false, true},
    {"RandomFlip", pass, nullptr, false, true},
    {"RandomRotation", pass, nullptr, false, true},
    {"RandomTranslation", pass, nullptr, false, true},
    {"RandomZoom", pass, nullptr, false, true},
    {"Flatten", add_flatten, nullptr, true},
    {"Reshape", add_reshape},
    {"Permute", add_permute},
    {"RepeatVector", add_repeat_vector},
    {"Rescaling",
     [](Builder& b, Layer const& l, Value const& x) {
       return b.add(l.name, Power{.scale = l.config.number("scale", 1), .shift = l.config.number("offset", 0)}, x);
     },
     nullptr, false, true},
    {"BatchNormalization", add_batch_normalization},
    {"Normalization", add_fixed_normalization},
    {"LayerNormalization", add_layer_normalization},
    {"GroupNormalization", add_group_normalization},
    {"Embedding", add_embedding},
    {"Conv1D", add_conv1d},
    {"DepthwiseConv1D", add_depthwise1d},
    {"SeparableConv1D", add_separable1d},
    {"Conv1DTranspose", add_conv1d_transpose},
    {"Conv2D", add_conv2d},
    {"DepthwiseConv2D", add_depthwise},
    {"SeparableConv2D", add_separable},
    {"Conv2DTranspose", add_conv2d_transpose},
    {"Conv3D", add_conv3d},
    {"Conv3DTranspose", add_conv3d_transpose},
    {"MaxPooling1D", add_pooling<PoolingMode::max>},
    {"MaxPooling2D", add_pooling<PoolingMode::max>},
    {"MaxPooling3D", add_pooling<PoolingMode::max>},
    {"AveragePooling1D", add_pooling<PoolingMode::average>},
    {"AveragePooling2D", add_pooling<PoolingMode::average>},
    {"AveragePooling3D", add_pooling<PoolingMode::average>},
    {"GlobalAveragePooling1D", add_global<ReduceOperation::mean>},
    {"GlobalAveragePooling2D", add_global<ReduceOperation::mean>},
    {"GlobalAveragePooling3D", add_global<ReduceOperation::mean>},
    {"GlobalMaxPooling1D", add_global<ReduceOperation::max>},
    {"GlobalMaxPooling2D", add_global<ReduceOperation::max>},
    {"GlobalMaxPooling3D", add_global<ReduceOperation::max>},
    {"ZeroPadding1D", add_zero_padding},
    {"ZeroPadding2D", add_zero_padding},
    {"ZeroPadding3D", add_zero_padding},
    {"Cropping1D", add_cropping},
    {"Cropping2D", add_cropping},
    {"Cropping3D", add_cropping},
    {"UpSampling1D", add_up_sampling},
    {"UpSampling2D", add_up_sampling},
    {"LSTM", add_recurrent},
    {"GRU", add_recurrent},
    {"SimpleRNN", add_recurrent},
    {"Bidirectional", add_bidirectional},
    {"MultiHeadAttention", nullptr, add_attention},
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
