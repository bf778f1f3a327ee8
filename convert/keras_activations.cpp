// Keras' activations, as functions and as layers.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

/// The name of a function or of a class, which may be an object that says more.
std::string name_of(Node const& activation) {
  if (activation.is_null()) return "linear";
  if (activation.is_text()) return activation.text();
  if (auto const inner = activation.find_value("config"); inner && inner->is_text()) return inner->text();
  return activation["class_name"].text();
}

}  // namespace

Value softmax(Builder& builder, std::string const& name, Value const& x, bool logarithm) {
  if (x.has_channels_first() || x.is_sequence())
    return builder.add(name, SoftmaxOver{.axis = x.has_channels_first() ? 0 : -1, .logarithm = logarithm}, x);
  return logarithm ? builder.add(name, LogSoftmax{}, x) : builder.add(name, Softmax{}, x);
}

/// Adds the activation that has this name in Keras, with Keras' constants.
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
  if (called == "selu") {  // Klambauer et al. 2017, with the numbers of Keras
    constexpr float alpha = 1.67326324f, scale = 1.05070098f;
    Value y = builder.add(name, Power{.scale = scale}, builder.add(name + ".elu", ELU{.alpha = alpha}, x));
    y.image = x.image;
    return y;
  }
  if (called == "softplus") return add(Softplus{});
  if (called == "softsign") return add(Softsign{});
  if (called == "exponential") return add(Exponential{});
  if (called == "mish") return add(Mish{});
  if (called == "leaky_relu") return add(LeakyReLU{.slope = 0.2f});
  if (called == "hard_silu" || called == "hard_swish") return add(HardSwish{});
  if (called == "hard_sigmoid") {
    std::string const version = builder.version();
    if (!version.starts_with("2.") && !version.starts_with("3."))
      activation.refuse<UnsupportedError>("got hard_sigmoid of Keras " + persist::printable(version) +
                                          ", but only that of Keras 2 and that of Keras 3 are known");
    return add(version.starts_with("2.") ? HardSigmoid{.alpha = 0.2f} : HardSigmoid{});
  }
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

namespace {

/// The values of an array, repeated along its axes of extent 1 to this shape.
std::vector<float> repeated(Array const& array, std::vector<Index> const& shape) {
  Index size = 1;
  for (Index const extent : shape) size *= extent;
  std::vector<float> all;
  all.reserve(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) {
    Index rest = i, place = 0, stride = 1;
    for (std::size_t a = shape.size(); a-- > 0; rest /= shape[a]) {
      if (array.shape[a] != 1) place += rest % shape[a] * stride;
      stride *= array.shape[a];
    }
    all.push_back(array.values[static_cast<std::size_t>(place)]);
  }
  return all;
}

}  // namespace

/// There is one slope for each channel or feature, one for all, or one for each position, too.
Value add_prelu(Builder& builder, Layer const& layer, Value const& x) {
  std::vector<Index> shape(x.shape.extents, x.shape.extents + x.shape.rank());
  if (x.has_channels_first()) std::rotate(shape.begin(), shape.begin() + 1, shape.end());
  std::vector<Index> const places = shape;
  if (auto const shared = layer.config.find_value("shared_axes")) {
    for (std::size_t i = 0; i < shared->size(); ++i) {
      Index const axis = (*shared)[i].integer(-8, 8), rank = x.shape.rank(), place = axis < 0 ? axis + rank : axis - 1;
      if (place < 0 || place >= rank) (*shared)[i].refuse("is no axis of " + to_string(x.shape));
      shape[static_cast<std::size_t>(place)] = 1;
    }
  }
  Array const slopes = builder.read(layer.place, 0, "alpha", shape);
  if (std::any_of(shape.begin(), shape.end() - 1, [](Index extent) { return extent != 1; })) {
    builder.count(layer.name, places);
    Array const each{places, repeated(slopes, places)};
    builder.set(layer.name + ".each-0", x.is_volume()  ? permuted(each, {3, 0, 1, 2})
                                        : x.is_image() ? permuted(each, {2, 0, 1})
                                                       : each.values);
    Value const flat = builder.add(layer.name + ".flat", Flatten{}, x);
    Value const y = builder.add(layer.name + ".each", PReLU{.num_parameters = flat.shape[0]}, flat);
    return builder.add(layer.name, Reshape{x.shape}, y);
  }
  builder.set(layer.name + "-0", slopes.values);
  return builder.add(layer.name, PReLU{.num_parameters = shape.back(), .axis = x.has_channels_first() ? 0 : -1}, x);
}

Value add_relu(Builder& builder, Layer const& layer, Value const& x) {
  float const slope = layer.config.number("negative_slope", 0);
  auto const most = layer.config.find_value("max_value");
  if (layer.config.number("threshold", 0) != 0 || (slope != 0 && most))
    layer.config.refuse<UnsupportedError>("has a threshold, or a slope and a greatest value");
  if (most) return builder.add(layer.name, Clip{.min = 0, .max = layer.config.number("max_value", 0)}, x);
  return slope != 0 ? builder.add(layer.name, LeakyReLU{.slope = slope}, x) : builder.add(layer.name, ReLU{}, x);
}

}  // namespace coldpress::convert::keras
