// Keras' layers that change the shapes of values.
#include "keras_kinds.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::keras {
namespace {

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

}  // namespace

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
  if (!x.is_image() && !x.is_sequence())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image or a sequence");
  bool const keeps = layer.config.flag("keepdims", false);
  std::string const name = keeps ? layer.name + ".reduced" : layer.name;
  auto const reduced = [&](std::string const& own, int axis, Value const& of) {
    return builder.add(own, Reduce{operation, axis}, of);
  };
  Value const y = x.is_sequence()                      ? reduced(name, 0, x)
                  : operation == ReduceOperation::mean ? builder.add(name, GlobalAveragePooling{}, x)
                                                       : reduced(name, -1, reduced(layer.name + ".rows", -1, x));
  if (!keeps) return y;
  Index const channels = y.shape[0];
  return builder.add(layer.name, Reshape{x.is_image() ? Shape{channels, 1, 1} : Shape{1, channels}}, y);
}

Value add_repeat_vector(Builder& builder, Layer const& layer, Value const& x) {
  Index const steps = layer.config["n"].integer(1, max_size);
  if (x.shape.rank() != 1)
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected {features}");
  Value const step = builder.add(layer.name + ".step", Reshape{{1, x.shape[0]}}, x);
  return builder.add(layer.name, Expand{Shape{steps, x.shape[0]}}, step);
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

Value add_cropping(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  auto const slice = [&](int axis, Index before, Index after) {
    return Slice{.axis = axis, .begin = static_cast<int>(before), .end = static_cast<int>(-after)};
  };
  if (x.is_sequence()) {
    auto const cut = numbers(layer.config, "cropping", 2, 0);
    return builder.add(layer.name, slice(0, cut[0], cut[1]), x);
  }
  auto const cut = borders(layer.config["cropping"]);
  return builder.add(layer.name, slice(2, cut[2], cut[3]),
                     builder.add(layer.name + ".rows", slice(1, cut[0], cut[1]), x));
}

Value add_up_sampling(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  if (x.is_sequence()) {
    Index const steps = x.shape[0], features = x.shape[1], times = numbers(layer.config, "size", 1)[0];
    Value const each = builder.add(layer.name + ".each", Reshape{{steps, 1, features}}, x);
    Value const repeated = builder.add(layer.name + ".repeated", Expand{Shape{steps, times, features}}, each);
    return builder.add(layer.name, Reshape{{steps * times, features}}, repeated);
  }
  if (!x.is_image())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected an image or a sequence");
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

}  // namespace coldpress::convert::keras
