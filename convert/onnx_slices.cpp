// Parts of values, and values around them.
#include "onnx_slices.hpp"

#include "onnx_constants.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace coldpress::convert::onnx {

Value part_of(Network& network, Value const& x, int axis, Index begin, Index end, std::string const& name) {
  if (begin == 0 && end == x.extent(axis)) return x;
  if (x.axis(axis).samples) refuse("it takes a part of the samples");
  Value y = x;
  y.axes[static_cast<std::size_t>(axis)] = {end - begin};
  Slice const layer{.axis = x.place(axis), .begin = static_cast<int>(begin), .end = static_cast<int>(end)};
  if (begin >= end) refuse("it takes none of the values along axis " + std::to_string(axis));
  if (end > std::numeric_limits<int>::max()) refuse("it takes a part of an axis with more than 2^31 values");
  y.sample = network.add(name, layer, {x.sample});
  return y;
}

Value places_of(Network& network, Value const& x, int axis, std::vector<Index> const& numbers) {
  if (numbers.empty()) refuse("it selects nothing");
  if (x.axis(axis).samples) refuse("it selects samples");
  constexpr Index most = Index{1} << 24;  // that floats count
  if (x.extent(axis) > most) refuse("it selects by numbers on an axis with more than 2^24 places");
  Value y = x;
  Sample const selected = network.constant({numbers.begin(), numbers.end()}, {static_cast<Index>(numbers.size())}, "");
  y.sample = network.add("", Gather{.axis = x.place(axis)}, {x.sample, selected});
  y.axes[static_cast<std::size_t>(axis)] = {static_cast<Index>(numbers.size())};
  return y;
}

namespace {

struct Range {
  int axis;
  Index begin, end, step;
};
/// The ranges that a Slice names, for a value with these extents.
std::vector<Range> ranges(Call const& call, std::vector<Axis> const& axes) {
  bool const old = call.size() == 1;  // before opset 10, and of what patterns make
  auto const list = [&](std::size_t i, char const* name) {
    if (old) return call.integers(name);
    return call.has(i) ? call.integers_of(i, name) : std::vector<Index>{};
  };
  auto const starts = list(1, "starts"), ends = list(2, "ends"), steps = old ? std::vector<Index>{} : list(4, "steps");
  auto named = list(3, "axes");
  if (named.empty()) named.resize(starts.size()), std::iota(named.begin(), named.end(), 0);
  if (starts.size() != ends.size() || named.size() != starts.size() ||
      (!steps.empty() && steps.size() != starts.size()))
    refuse("its starts, ends, axes and steps are not equal in number");
  std::vector<Range> all;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Range range{axis_in(named[i], static_cast<int>(axes.size())), starts[i], ends[i], steps.empty() ? 1 : steps[i]};
    if (range.step == 0) refuse("it has a step of 0");
    Index const extent = axes[static_cast<std::size_t>(range.axis)].extent();
    if (axes[static_cast<std::size_t>(range.axis)].hidden()) {  // whose extent here is not the number of samples
      Index const samples = call.network.samples(), beyond = std::numeric_limits<std::int32_t>::max();
      if (starts[i] != 0 || range.step != 1 || ends[i] < (samples > 1 ? samples : beyond))
        refuse("it takes a part of the samples");
    }
    if (extent == 0) refuse("it takes a part of an axis without values");
    range.step = std::clamp(range.step, -extent, extent);  // which reach no second value
    bool const back = range.step < 0;
    auto const bounded = [&](Index at, Index least, Index most) {
      return std::clamp<Index>(at < 0 ? at + extent : at, least, most);
    };
    range.begin = bounded(range.begin, 0, back ? extent - 1 : extent);
    range.end = bounded(range.end, back ? -1 : 0, extent);
    all.push_back(range);
  }
  return all;
}

void slice(Call& call) {
  Value x = call.value(0);
  for (Range const& range : ranges(call, x.axes)) {
    Axis const& axis = x.axis(range.axis);
    bool const all_samples = axis.hidden() && range.begin == 0 && range.step == 1 && range.end == 1;
    if (all_samples) continue;
    if (range.step == 1) {
      x = part_of(call.network, x, range.axis, range.begin, range.end, "");
    } else {
      std::vector<Index> numbers;
      for (Index at = range.begin; range.step > 0 ? at < range.end : at > range.end; at += range.step)
        numbers.push_back(at);
      x = places_of(call.network, x, range.axis, numbers);
    }
  }
  call.set(x);
}
/// So many places of an axis of a constant, from one on.
Tensor along(Call const& call, Tensor const& x, int axis, Index begin, Index step, Index count) {
  auto const a = static_cast<std::size_t>(axis);
  Index inner = 1;
  for (std::size_t i = a + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  std::vector<Index> shape = x.shape;
  shape[a] = count;
  Index const outer = x.shape[a] == 0 || inner == 0 ? 0 : x.size() / (x.shape[a] * inner);
  std::vector<std::size_t> places;
  for (Index o = 0; o < outer; ++o) {
    for (Index k = 0; k < count; ++k) {
      for (Index i = 0; i < inner; ++i)
        places.push_back(static_cast<std::size_t>((o * x.shape[a] + begin + k * step) * inner + i));
    }
  }
  Tensor result = picked(call, x, places, shape);
  result.samples_axis = x.samples_axis;
  return result;
}
/// Checks what of the samples' axis a Slice names, whose number of samples is not known when the ranges are made.
Tensor fold_slice(Call const& call) {
  Tensor x = call.constant(0, "its input");
  for (Range const& range : ranges(call, axes_of(x))) {
    Index const distance = range.end - range.begin;
    x = along(call, x, range.axis, range.begin, range.step,
              std::max<Index>(0, (distance + range.step - (range.step > 0 ? 1 : -1)) / range.step));
  }
  return x;
}

/// Parts of a value, or of a constant, which are constants.
void split(Call& call) {
  bool const folds = call.is_constant(0);
  std::vector<Axis> const axes = folds ? axes_of(call.constant(0, "its input")) : call.value(0).axes;
  int const axis = axis_in(call.integer("axis", 0), static_cast<int>(axes.size()));
  auto const outputs = static_cast<Index>(call.node.outputs.size());
  std::vector<Index> sizes = call.has(1) ? call.integers_of(1, "split") : call.integers("split");
  Axis const& whole = axes[static_cast<std::size_t>(axis)];
  Index const extent = whole.extent();
  if (folds && whole.samples) refuse("it takes a part of the samples");
  if (sizes.empty()) {
    Index const each = (extent + outputs - 1) / outputs;
    for (Index i = 0; i < outputs; ++i) sizes.push_back(std::clamp<Index>(extent - i * each, 0, each));
  }
  if (static_cast<Index>(sizes.size()) != outputs) refuse("it names another number of parts than it has outputs");
  Index begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > extent - begin) refuse("its parts do not fit an axis of " + std::to_string(extent));
    if (call.used(i) && folds) call.set(along(call, call.constant(0, "its input"), axis, begin, 1, sizes[i]), i);
    if (call.used(i) && !folds)
      call.set(part_of(call.network, call.value(0), axis, begin, begin + sizes[i], "part" + std::to_string(i)), i);
    begin += sizes[i];
  }
}

void pad(Call& call) {
  Value x = call.value(0);
  auto const pads = call.opset < 11 ? call.integers("pads") : call.integers_of(1, "pads");
  std::vector<Index> named = call.has(3) ? call.integers_of(3, "axes") : std::vector<Index>{};
  if (named.empty()) named.resize(x.axes.size()), std::iota(named.begin(), named.end(), 0);
  if (pads.size() != 2 * named.size()) refuse("its pads are not two for each axis");
  std::string const mode = call.text("mode", "constant");
  Pad layer{.mode = mode == "reflect" ? PadMode::reflect : mode == "edge" ? PadMode::replicate : PadMode::constant};
  if (mode != "constant" && layer.mode == PadMode::constant) refuse("its mode '" + mode + "' has no layer");
  layer.value = call.opset < 11                                        ? call.number("value", 0)
                : call.has(2) && call.constant(2, "value").size() == 1 ? float_at(call.constant(2, "value"), 0)
                                                                       : 0;
  std::vector<Index> before(x.order.size()), after(x.order.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    int const axis = axis_in(named[i], x.rank());
    Index const left = pads[i], right = pads[named.size() + i];
    if (left == 0 && right == 0) continue;
    if (x.axis(axis).samples) refuse("it pads the axis of the samples");
    if (std::min(left, right) < -x.extent(axis) || std::max(left, right) > Index{1} << 30)
      refuse("it pads an axis by " + std::to_string(left) + " and " + std::to_string(right));
    x = part_of(call.network, x, axis, std::max<Index>(0, -left), x.extent(axis) - std::max<Index>(0, -right),
                "cropped");
    before[static_cast<std::size_t>(x.place(axis))] = std::max<Index>(0, left);
    after[static_cast<std::size_t>(x.place(axis))] = std::max<Index>(0, right);
  }
  std::size_t first = 0;
  while (first < before.size() && before[first] == 0 && after[first] == 0) ++first;
  if (first == before.size()) return call.set(x);
  auto const count = static_cast<int>(before.size() - first);
  if (count > PerAxis::max) refuse("it pads an axis that is not one of the last three");
  layer.axis = static_cast<int>(first);
  layer.before = PerAxis::of(before.data() + first, count), layer.after = PerAxis::of(after.data() + first, count);
  for (std::size_t a = 0; a < before.size(); ++a) {
    Axis& axis = x.axes[static_cast<std::size_t>(x.order[a])];
    if (!axis.samples) axis = {axis.extent() + before[a] + after[a]};
  }
  x.sample = call.network.add("", layer, {x.sample});
  call.set(x);
}

}  // namespace

std::span<Operator const> slice_operators() {
  static constexpr std::array rows{
      Operator{"Slice", slice, fold_slice, "`slice`, or `gather` with steps other than 1"},
      Operator{"Split", split, nullptr, "`slice`"},
      Operator{"Pad", pad, nullptr, "`pad`, or part of a convolution; constant, reflect and edge"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
