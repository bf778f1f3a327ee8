// Axes that come, go or change places.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

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
void transpose(Call& call) {  // moves no values: it only renumbers the model's axes
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

}  // namespace

std::span<Operator const> axis_operators() {
  static constexpr std::array rows{
      Operator{"Squeeze", squeeze, fold_squeeze, "`reshape`"},
      Operator{"Unsqueeze", unsqueeze, fold_unsqueeze, "`reshape`"},
      Operator{"Transpose", transpose, fold_transpose, "nothing, or `permute` where something depends on the order"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
