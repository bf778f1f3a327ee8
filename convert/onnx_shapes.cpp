// Other shapes and orders of the same values.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

/// The axes of a value with its values in another shape, for a number of samples that is written as a number there.
class Reshaped {
 public:
  Reshaped(std::vector<Axis> const& from, std::vector<Int> to, Index samples)
      : from_(from), to_(std::move(to)), samples_(samples) {
    if (to_.size() > Shape::max_rank + 1) refuse("it makes a value with more than 9 axes");
    bool after = false;
    for (Axis const& axis : from) {
      before_ *= axis.samples || !after ? axis.before : 1;
      if (axis.samples)
        after = true, after_ = axis.after;
      else if (after)
        after_ *= axis.extent();
    }
    has_samples_ = after;
    if (!after) after_ = 1;
  }
  std::vector<Axis> axes() {
    bool const symbolic = std::ranges::any_of(to_, &Int::samples);
    bool const open = std::ranges::any_of(to_, [](Int extent) { return !extent.samples && extent.factor == -1; });
    if (open) fill_open(!symbolic && has_samples_ && samples_ == 0);
    Index values = 1;
    for (Int const extent : to_) {
      if (extent.factor < 1 || values > max_values / extent.factor) misfit();
      values *= extent.factor;
    }
    bool const counted = std::ranges::any_of(to_, &Int::samples);
    if (values != before_ * after_ * (has_samples_ && !counted ? std::max<Index>(1, samples_) : 1)) misfit();
    std::vector<Axis> all;
    for (Int const extent : to_) all.push_back({extent.factor, 1, extent.samples});
    if (has_samples_) place_samples(all, counted);
    return all;
  }

 private:
  [[noreturn]] void misfit() const {
    std::string text;
    for (Int const extent : to_)
      text +=
          (text.empty() ? "" : ", ") + std::string{extent.samples ? "samples * " : ""} + std::to_string(extent.factor);
    refuse("the values of " + described(from_) + " cannot have the shape [" + text + "]");
  }
  /// Computes the extent that is -1, which counts samples if no other one does.
  void fill_open(bool counts_samples) {
    Index others = 1;
    bool symbolic = false;
    Int* open = nullptr;
    for (Int& extent : to_) {
      if (!extent.samples && extent.factor == -1) {
        if (open) refuse("two extents of the shape are left open");
        open = &extent;
      } else {
        if (extent.factor < 1 || others > max_values / extent.factor) misfit();
        others *= extent.factor;
        symbolic = symbolic || extent.samples;
      }
    }
    Index const values =
        before_ * after_ * (has_samples_ && !symbolic && !counts_samples ? std::max<Index>(1, samples_) : 1);
    if (values % others != 0) misfit();
    *open = {values / others, counts_samples};
  }
  /// Finds the axis that has the samples: the one that is said to, or else the first one before which there are as many
  /// values as before.
  void place_samples(std::vector<Axis>& all, bool counted) const {
    Index const samples = counted ? 1 : std::max<Index>(1, samples_);
    auto const take = [&](Axis& axis, Index outer) {
      Index const before = before_ / outer;
      axis = {before, axis.before / samples / before, true};
    };
    for (bool const exactly : {true, false}) {
      Index outer = 1;
      for (Axis& axis : all) {
        bool const possible = before_ % outer == 0 && axis.before % (before_ / outer * samples) == 0;
        if (counted ? axis.samples && possible : possible && (outer == before_ || !exactly)) return take(axis, outer);
        outer *= axis.before;
        if (outer > before_) break;
      }
    }
    misfit();
  }

  std::vector<Axis> const& from_;
  std::vector<Int> to_;
  Index samples_;  // 0: not known
  Index before_ = 1, after_ = 1;
  bool has_samples_ = false;
};

std::vector<Int> ints_of(Call const& call, std::size_t i, char const* attribute) {
  if (!call.has(i) && call.has(std::string_view{attribute})) {
    std::vector<Int> all;
    for (Index const value : call.integers(attribute)) all.push_back({value});
    return all;
  }
  Tensor const& tensor = call.constant(i, attribute);
  if (tensor.floating()) refuse(std::string{attribute} + " is not of whole numbers");
  return tensor.ints;
}

void reshape(Call& call) {
  Value const x = call.value(0);
  auto to = ints_of(call, 1, "shape");
  if (call.integer("allowzero", 0) == 0) {
    for (std::size_t a = 0; a < to.size(); ++a) {
      if (to[a] != Int{}) continue;
      if (a >= x.axes.size()) refuse("its shape copies an axis that the input does not have");
      to[a] = {x.axes[a].extent(), x.axes[a].samples};
    }
  }
  call.set(viewed(call.network, x, Reshaped{x.axes, to, call.network.samples()}.axes()));
}
Tensor fold_reshape(Call const& call) {
  Tensor const& x = call.constant(0, "its input");
  std::vector<Index> shape;
  Index known = 1, open = -1;
  for (Int const extent : ints_of(call, 1, "shape")) {
    if (extent.samples) refuse("it gives a constant a shape with the number of samples");
    Index value = extent.factor;
    if (value == 0 && call.integer("allowzero", 0) == 0) {
      if (shape.size() >= x.shape.size()) refuse("its shape copies an axis that the input does not have");
      value = x.shape[shape.size()];
    }
    if (value < -1 || (value > 0 && known > max_values / value)) refuse("its shape is impossible");
    if (value == -1) open = static_cast<Index>(shape.size());
    if (value != -1) known *= value;
    shape.push_back(value);
  }
  if (open >= 0) shape[static_cast<std::size_t>(open)] = known == 0 ? 0 : x.size() / known;
  Index size = 1;
  for (Index const extent : shape) size *= std::max<Index>(extent, 0);
  if (size != x.size() || std::ranges::count(shape, -1) > 0) refuse("its shape has another number of values");
  return shaped(x, shape);
}

void flatten(Call& call) {
  Value const x = call.value(0);
  Index const given = call.integer("axis", 1);
  int const axis = given == x.rank() ? x.rank() : axis_in(given, x.rank());
  Axis parts[2];
  for (int a = 0; a < x.rank(); ++a) {
    Axis& part = parts[a >= axis];
    (part.samples ? part.after : part.before) *= x.axis(a).samples ? x.axis(a).before : x.extent(a);
    if (x.axis(a).samples) part.samples = true, part.after *= x.axis(a).after;
  }
  call.set(viewed(call.network, x, {parts[0], parts[1]}));
}

/// The axes that an operator names, in an attribute in older opsets and an input in newer ones.
std::vector<Index> axes_named(Call const& call) {
  return call.has(1) ? call.integers_of(1, "axes") : call.integers("axes");
}
template <class T>
void remove(std::vector<T>& from, std::vector<int> const& axes) {
  std::vector<T> rest;
  for (int a = 0; a < static_cast<int>(from.size()); ++a) {
    if (std::ranges::find(axes, a) == axes.end()) rest.push_back(from[static_cast<std::size_t>(a)]);
  }
  from = rest;
}
std::vector<int> places(Call const& call, int rank) {
  std::vector<int> all;
  for (Index const axis : axes_named(call)) all.push_back(axis_in(axis, rank));
  std::ranges::sort(all);
  return all;
}

/// Changes the axes of a value without moving one. `now` is where each of its axes is in the new ones.
Value with_axes(Network& network, Value const& x, std::vector<Axis> axes, std::vector<int> const& now) {
  Value y{x.sample, std::move(axes), {}, x.type};
  for (int const a : x.order) {
    if (now[static_cast<std::size_t>(a)] >= 0) y.order.push_back(now[static_cast<std::size_t>(a)]);
  }
  insert_single(y.order, y.axes);
  y.sample = network.reshape(x.sample, shape_of(y.axes, y.order));
  return y;
}

void squeeze(Call& call) {
  Value const x = call.value(0);
  std::vector<int> axes = places(call, x.rank());
  if (!call.has(1) && !call.has(std::string_view{"axes"})) {
    for (int a = 0; a < x.rank(); ++a) {
      if (!x.axis(a).samples && x.extent(a) == 1) axes.push_back(a);
    }
  }
  std::vector<int> now(x.axes.size(), -1);
  int kept = 0;
  for (int a = 0; a < x.rank(); ++a) {
    bool const goes = std::ranges::find(axes, a) != axes.end();
    if (goes && x.axis(a).samples) refuse("it removes the axis of the samples");
    if (goes && x.extent(a) != 1) refuse("it removes an axis of " + std::to_string(x.extent(a)) + " values");
    if (!goes) now[static_cast<std::size_t>(a)] = kept++;
  }
  std::vector<Axis> rest = x.axes;
  remove(rest, axes);
  call.set(with_axes(call.network, x, rest, now));
}
Tensor fold_squeeze(Call const& call) {
  Tensor const& x = call.constant(0, "its input");
  std::vector<int> axes = places(call, x.rank());
  if (!call.has(1) && !call.has(std::string_view{"axes"})) {
    for (int a = 0; a < x.rank(); ++a) {
      if (x.shape[static_cast<std::size_t>(a)] == 1) axes.push_back(a);
    }
  }
  std::vector<Index> shape = x.shape;
  remove(shape, axes);
  Tensor result = x;
  result.shape = shape;
  if (result.size() != x.size()) refuse("it removes an axis that has more than one value");
  if (x.samples_axis >= 0) {
    if (std::ranges::find(axes, x.samples_axis) != axes.end()) refuse("it removes the axis of the samples");
    for (int const a : axes) result.samples_axis -= a < x.samples_axis;
  }
  return result;
}

/// Where each axis is after axes were inserted, and the rank with them.
std::vector<int> inserted(Call const& call, int rank, std::vector<int>& added) {
  auto const named = axes_named(call);
  int const all = rank + static_cast<int>(std::min<std::size_t>(named.size(), 2 * Shape::max_rank));
  for (Index const axis : named) added.push_back(axis_in(axis, all));
  std::ranges::sort(added);
  if (std::ranges::adjacent_find(added) != added.end()) refuse("it inserts an axis twice");
  std::vector<int> now;
  for (int a = 0; a < all; ++a) {
    if (std::ranges::find(added, a) == added.end()) now.push_back(a);
  }
  return now;
}
void unsqueeze(Call& call) {
  Value const x = call.value(0);
  std::vector<int> added;
  auto const now = inserted(call, x.rank(), added);
  std::vector<Axis> axes = x.axes;
  for (int const a : added) axes.insert(axes.begin() + a, Axis{});
  call.set(with_axes(call.network, x, axes, now));
}
Tensor fold_unsqueeze(Call const& call) {
  Tensor result = call.constant(0, "its input");
  std::vector<int> added;
  auto const now = inserted(call, result.rank(), added);
  for (int const a : added) result.shape.insert(result.shape.begin() + a, 1);
  if (result.shape.size() > Shape::max_rank) refuse("it makes a constant with more than 8 axes");
  if (result.samples_axis >= 0) result.samples_axis = now[static_cast<std::size_t>(result.samples_axis)];
  return result;
}

std::vector<int> permutation(Call const& call, int rank) {
  std::vector<int> order;
  auto const named = call.integers("perm");
  for (int a = 0; a < rank; ++a) order.push_back(named.empty() ? rank - 1 - a : -1);
  if (named.size() > 0 && static_cast<int>(named.size()) != rank) refuse("perm names another number of axes");
  for (std::size_t i = 0; i < named.size(); ++i) order[i] = axis_in(named[i], rank);
  std::vector<int> sorted = order;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) refuse("perm names an axis twice");
  return order;
}
void transpose(Call& call) {  // moves nothing: only the axes of the samples are others of the model
  Value const x = call.value(0);
  std::vector<int> const order = permutation(call, x.rank());
  Value y{x.sample, {}, {}, x.type};
  for (int const a : order) y.axes.push_back(x.axis(a));
  for (int const a : x.order) y.order.push_back(static_cast<int>(std::ranges::find(order, a) - order.begin()));
  call.set(y);
}
Tensor fold_transpose(Call const& call) {
  Tensor const& x = call.constant(0, "its input");
  return transposed(x, permutation(call, x.rank()));
}

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
  auto to = ints_of(call, 1, "shape");
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
  for (Int const extent : ints_of(call, 1, "shape")) {
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
    if (repeats[a] < 1) refuse("it repeats an axis " + std::to_string(repeats[a]) + " times");
    if (repeats[a] > 1 && x.axes[a].samples) refuse("it repeats samples");
    if (repeats[a] > 1) parts.push_back({}), repeated.push_back({repeats[a]});
    parts.push_back(x.axes[a]), repeated.push_back(x.axes[a]);
    if (repeats[a] > 1) all[a].before *= repeats[a];
  }
  Value const y = viewed(call.network, x, parts);
  auto const order = natural(repeated);
  call.set(viewed(call.network, {expanded(call.network, y, repeated, order), repeated, order, x.type}, all));
}

/// Between channels and places of an image {N, C, H, W}: blocks of the image become channels, or the other way.
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

constexpr std::array rows{
    Operator{"Reshape", reshape, fold_reshape, "`reshape`; the samples stay together"},
    Operator{"Flatten", flatten, nullptr, "`reshape`"},
    Operator{"Squeeze", squeeze, fold_squeeze, "`reshape`"},
    Operator{"Unsqueeze", unsqueeze, fold_unsqueeze, "`reshape`"},
    Operator{"Transpose", transpose, fold_transpose, "nothing, or `permute` where something depends on the order"},
    Operator{"Shape", shape, fold_shape, "a constant"},
    Operator{"Size", size, fold_size, "a constant"},
    Operator{"Expand", expand, fold_expand, "`expand`"},
    Operator{"Tile", tile, nullptr, "`expand`"},
    Operator{"DepthToSpace", depth_to_space, nullptr, "`reshape`, `permute`"},
    Operator{"SpaceToDepth", space_to_depth, nullptr, "`reshape`, `permute`"},
};

}  // namespace

std::span<Operator const> shape_operators() { return rows; }

}  // namespace coldpress::convert::onnx
