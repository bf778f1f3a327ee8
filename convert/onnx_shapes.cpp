// Shapes as values, and values that are repeated or put together in blocks.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

Tensor shape_from(Call const& call, std::vector<Axis> const& axes) {
  Index const rank = static_cast<Index>(axes.size());
  auto const bounded = [&](Index at) { return std::clamp<Index>(at < 0 ? at + rank : at, 0, rank); };
  Tensor shape{.type = Type::int64};
  for (Index a = bounded(call.integer("start", 0)); a < bounded(call.integer("end", rank)); ++a) {
    Axis const& axis = axes[static_cast<std::size_t>(a)];
    shape.ints.push_back({axis.extent(), axis.samples});
  }
  shape.shape = {static_cast<Index>(shape.ints.size())};
  return shape;
}
void shape(Call& call) { call.set(shape_from(call, call.value(0).axes)); }
Tensor fold_shape(Call const& call) { return shape_from(call, axes_of(call.constant(0, "its input"))); }
Tensor size_from(std::vector<Axis> const& axes) {
  Int size{1};
  for (Axis const& axis : axes) size = size * Int{axis.extent(), axis.samples};
  return {.type = Type::int64, .ints = {size}};
}
void size(Call& call) { call.set(size_from(call.value(0).axes)); }
Tensor fold_size(Call const& call) { return size_from(axes_of(call.constant(0, "its input"))); }

std::vector<Axis> axes_from(std::vector<Int> const& shape) {
  std::vector<Axis> axes;
  for (Int const extent : shape) {
    if (extent.factor < 1) refuse("it makes a value without numbers");
    axes.push_back({extent.factor, 1, extent.samples});
  }
  return axes;
}
void expand(Call& call) {
  Value const x = call.value(0);
  auto to = call.ints(1, "shape");
  if (to.size() > Shape::max_rank + 1) refuse("it makes a value with more than 9 axes");
  int const samples = x.samples_axis();
  auto const aligned = static_cast<std::size_t>(samples + static_cast<int>(to.size()) - x.rank());
  if (samples >= 0 && aligned < to.size() && to[aligned] == Int{call.network.samples() * x.extent(samples)})
    to[aligned] = {x.extent(samples), true};
  auto const axes = broadcast(x.axes, axes_from(to));
  auto const order = natural(axes);
  call.set({expanded(call.network, x, axes, order), axes, order, x.type});
}
Tensor fold_expand(Call const& call) {
  Tensor const& x = call.constant(0, "its input");
  std::vector<Index> to;
  int samples_axis = -1;
  for (Int const extent : call.ints(1, "shape")) {
    if (extent.samples) samples_axis = static_cast<int>(to.size());
    if (extent.samples && extent.factor != 1) refuse("it makes a constant with several values for each sample");
    to.push_back(extent.factor);
  }
  auto const shape = repeated_shape(x.shape, to);
  Tensor result = tensor_for(call, x.type, shape);
  auto const from = places_in(x.shape, shape);
  result = picked(call, x, from, shape);
  int const more = static_cast<int>(shape.size() - to.size());
  result.samples_axis = samples_axis < 0 ? x.samples_axis : samples_axis + more;
  return result;
}

void tile(Call& call) {
  Value const x = call.value(0);
  auto const repeats = call.integers_of(1, "repeats");
  if (static_cast<int>(repeats.size()) != x.rank()) refuse("repeats names another number of axes");
  std::vector<Axis> parts, repeated, all = x.axes;
  for (std::size_t a = 0; a < repeats.size(); ++a) {
    if (repeats[a] < 1 || repeats[a] > max_values / x.axes[a].extent())
      refuse("it repeats an axis " + std::to_string(repeats[a]) + " times");
    if (repeats[a] > 1 && x.axes[a].samples) refuse("it repeats samples");
    if (repeats[a] > 1) parts.push_back({}), repeated.push_back({repeats[a]});
    parts.push_back(x.axes[a]), repeated.push_back(x.axes[a]);
    if (repeats[a] > 1) all[a].before *= repeats[a];
  }
  Value const y = viewed(call.network, x, parts);
  auto const order = natural(repeated);
  call.set(viewed(call.network, {expanded(call.network, y, repeated, order), repeated, order, x.type}, all));
}

/// Moves values between the channels and the places of an image {N, C, H, W}: blocks of the image become channels, or
/// the other way round.
void blocks(Call& call, bool to_depth) {
  Value const x = call.value(0);
  if (x.rank() != 4 || x.samples_axis() > 0 || (x.samples_axis() == 0 && !x.axis(0).hidden()))
    refuse("its input is no image [samples, channels, height, width]");
  Index const b = call.integer("blocksize", 0), c = x.extent(1), h = x.extent(2), w = x.extent(3);
  bool const fits = b >= 1 && b <= 1 << 20 && (to_depth ? h % b == 0 && w % b == 0 : c % (b * b) == 0);
  if (!fits) refuse("its blocks of " + std::to_string(b) + " do not divide " + described(x.axes));
  bool const first = to_depth || call.text("mode", "DCR") == "DCR";  // whether the block is before the channels
  std::vector<Axis> parts{x.axis(0)}, all{x.axis(0)};
  std::vector<int> order;
  if (to_depth) {
    for (Index const extent : {c, h / b, b, w / b, b}) parts.push_back({extent});
    order = {0, 3, 5, 1, 2, 4};
    for (Index const extent : {c * b * b, h / b, w / b}) all.push_back({extent});
  } else {
    Index const rest = c / (b * b);
    for (Index const extent : {first ? b : rest, b, first ? rest : b, h, w}) parts.push_back({extent});
    order = first ? std::vector{0, 3, 4, 1, 5, 2} : std::vector{0, 1, 4, 2, 5, 3};
    for (Index const extent : {rest, h * b, w * b}) all.push_back({extent});
  }
  Value const y = viewed(call.network, x, parts);
  Value turned{y.sample, {}, {}, x.type};
  for (int const a : order) turned.axes.push_back(y.axis(a));
  for (int const a : y.order) turned.order.push_back(static_cast<int>(std::ranges::find(order, a) - order.begin()));
  call.set(viewed(call.network, turned, all));
}
void depth_to_space(Call& call) { blocks(call, false); }
void space_to_depth(Call& call) { blocks(call, true); }

}  // namespace

std::span<Operator const> shape_operators() {
  static constexpr std::array rows{
      Operator{"Shape", shape, fold_shape, "a constant"},
      Operator{"Size", size, fold_size, "a constant"},
      Operator{"Expand", expand, fold_expand, "`expand`"},
      Operator{"Tile", tile, nullptr, "`expand`"},
      Operator{"DepthToSpace", depth_to_space, nullptr, "`reshape`, `permute`"},
      Operator{"SpaceToDepth", space_to_depth, nullptr, "`reshape`, `permute`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
