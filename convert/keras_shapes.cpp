// Keras' layers that change the shapes of values.
#include "keras_kinds.hpp"

#include <algorithm>

namespace coldpress::convert::keras {
namespace {

struct Borders {
  std::vector<Index> before, after;
};
/// Numbers for before and after on the axes of an image or a volume: [[before, after], [before, after]], one for each
/// axis, or one for all.
Borders borders(Node const& field, Value const& x) {
  auto const axes = static_cast<std::size_t>(x.shape.rank() - 1);
  if (field.is_list() && field.size() != axes) field.expected("a number, or a list of " + std::to_string(axes));
  Borders all;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    Node const of = field.is_list() ? field[axis] : field;
    bool const list = of.is_list();
    if (list && of.size() != 2) of.expected("a number, or a list of 2");
    all.before.push_back((list ? of[0] : of).integer(0, max_size));
    all.after.push_back((list ? of[1] : of).integer(0, max_size));
  }
  return all;
}
void expect_places(Layer const& layer, Value const& x) {
  if (!x.has_channels_first() && !x.is_sequence())
    layer.config.refuse<UnsupportedError>("reads " + to_string(x.shape) +
                                          ", expected an image, a volume or a sequence");
}

}  // namespace

Value add_flatten(Builder& builder, Layer const& layer, Value const& x) {
  expect_channels_last(layer.config);
  Value y = builder.add(layer.name, Flatten{}, x);
  bool const matters = x.has_channels_first() && x.shape[0] > 1 && x.shape.size() > x.shape[0];
  y.image = matters ? x.shape : x.image;
  return y;
}

Value add_reshape(Builder& builder, Layer const& layer, Value const& x) {
  Node const target = layer.config["target_shape"];
  if (target.size() < 1 || target.size() > 4)
    target.refuse<UnsupportedError>("has " + std::to_string(target.size()) + " extents, expected 1 to 4");
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
  expect_places(layer, x);
  bool const keeps = layer.config.flag("keepdims", false);
  std::string const name = keeps ? layer.name + ".reduced" : layer.name;
  auto const reduced = [&](std::string const& own, int axis, Value const& of) {
    return builder.add(own, Reduce{operation, axis}, of);
  };
  auto const largest = [&] {
    Value const rows = x.is_volume() ? reduced(layer.name + ".planes", -1, x) : x;
    return reduced(name, -1, reduced(layer.name + ".rows", -1, rows));
  };
  Value const y = x.is_sequence()                      ? reduced(name, 0, x)
                  : operation == ReduceOperation::mean ? builder.add(name, GlobalAveragePooling{}, x)
                                                       : largest();
  if (!keeps) return y;
  Index const channels = y.shape[0];
  return builder.add(layer.name,
                     Reshape{x.is_sequence() ? Shape{1, channels}
                             : x.is_image()  ? Shape{channels, 1, 1}
                                             : Shape{channels, 1, 1, 1}},
                     y);
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
  expect_places(layer, x);
  auto const zeros = borders(layer.config["padding"], x);
  return builder.add(layer.name, Pad{.before = per_axis(zeros.before), .after = per_axis(zeros.after)}, x);
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
  expect_places(layer, x);
  auto const cut = borders(layer.config["cropping"], x);
  Value y = x;
  for (std::size_t a = 0; a < cut.before.size(); ++a) {
    std::string const part = a + 1 == cut.before.size() ? "" : a + 2 == cut.before.size() ? ".rows" : ".planes";
    y = builder.add(layer.name + part, slice(static_cast<int>(a) + 1, cut.before[a], cut.after[a]), y);
  }
  return y;
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
