// Parts of values, and values put together.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace coldpress::convert::onnx {
namespace {

/// The part [begin, end) of a value along an axis.
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

struct Range {
  int axis;
  Index begin, end, step;
};
/// The ranges that a Slice names, for a value with these extents.
std::vector<Range> ranges(Call const& call, std::vector<Axis> const& axes) {
  bool const old = call.opset < 10;
  auto const list = [&](std::size_t i, char const* name) {
    if (old) return call.integers(name);
    return call.has(i) ? call.integers_of(i, name) : std::vector<Index>{};
  };
  auto const starts = list(1, "starts"), ends = list(2, "ends"), steps = old ? std::vector<Index>{} : list(4, "steps");
  auto named = list(3, "axes");
  if (named.empty()) named.resize(starts.size()), std::iota(named.begin(), named.end(), 0);
  if (starts.size() != ends.size() || named.size() != starts.size() ||
      (!steps.empty() && steps.size() != starts.size()))
    refuse("its starts, ends, axes and steps are not equally many");
  std::vector<Range> all;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Range range{axis_in(named[i], static_cast<int>(axes.size())), starts[i], ends[i], steps.empty() ? 1 : steps[i]};
    if (range.step == 0) refuse("it has a step of 0");
    Index const extent = axes[static_cast<std::size_t>(range.axis)].extent();
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
    if (range.step != 1) refuse("it has a step of " + std::to_string(range.step));
    x = part_of(call.network, x, range.axis, range.begin, range.end, "");
  }
  call.set(x);
}
/// Checks what of the samples' axis a Slice names, whose number of samples is not known when the ranges are made.
Tensor fold_slice(Call const& call) {
  Tensor x = call.constant(0, "its input");
  for (Range const& range : ranges(call, axes_of(x))) {
    std::vector<std::size_t> places;
    auto const a = static_cast<std::size_t>(range.axis);
    Index inner = 1;
    for (std::size_t i = a + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
    std::vector<Index> shape = x.shape;
    Index const distance = range.end - range.begin;
    shape[a] = std::max<Index>(0, (distance + range.step - (range.step > 0 ? 1 : -1)) / range.step);
    Index const outer = x.shape[a] == 0 || inner == 0 ? 0 : x.size() / (x.shape[a] * inner);
    for (Index o = 0; o < outer; ++o) {
      for (Index k = 0; k < shape[a]; ++k) {
        for (Index i = 0; i < inner; ++i)
          places.push_back(static_cast<std::size_t>((o * x.shape[a] + range.begin + k * range.step) * inner + i));
      }
    }
    int const samples_axis = x.samples_axis;
    x = picked(call, x, places, shape);
    x.samples_axis = samples_axis;
  }
  return x;
}

void split(Call& call) {
  Value const x = call.value(0);
  int const axis = axis_in(call.integer("axis", 0), x.rank());
  auto const outputs = static_cast<Index>(call.node.outputs.size());
  std::vector<Index> sizes = call.has(1) ? call.integers_of(1, "split") : call.integers("split");
  Index const extent = x.extent(axis);
  if (sizes.empty()) {
    Index const each = (extent + outputs - 1) / outputs;
    for (Index i = 0; i < outputs; ++i) sizes.push_back(std::clamp<Index>(extent - i * each, 0, each));
  }
  if (static_cast<Index>(sizes.size()) != outputs) refuse("it names another number of parts than it has outputs");
  Index begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > extent - begin) refuse("its parts do not fit an axis of " + std::to_string(extent));
    if (call.used(i)) call.set(part_of(call.network, x, axis, begin, begin + sizes[i], "part" + std::to_string(i)), i);
    begin += sizes[i];
  }
}

/// Rows of a constant, selected at run time.
void embed(Call& call) {
  Tensor const& table = call.constant(0, "the table");
  Value const numbers = call.value(1);
  if (axis_in(call.integer("axis", 0), std::max(1, table.rank())) != 0 || table.rank() == 0)
    refuse("numbers that are computed select along another axis of a constant than the first");
  if (table.size() == 0) refuse("its table has no values");
  Index const vocabulary = table.shape[0], features = table.size() / vocabulary;
  std::vector<float> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(table.size()); ++i) values.push_back(float_at(table, i));
  Sample const rows = call.network.add("", Embedding{.vocabulary = vocabulary, .features = features}, {numbers.sample},
                                       {{"-0", {vocabulary, features}, std::move(values), table.origin}});
  Value y{rows, numbers.axes, numbers.order, table.type};
  for (int a = 1; a < table.rank(); ++a) {
    y.order.push_back(y.rank());
    y.axes.push_back({table.shape[static_cast<std::size_t>(a)]});
  }
  y.sample = call.network.reshape(rows, shape_of(y.axes, y.order));
  call.set(y);
}

void gather(Call& call) {
  if (call.is_constant(0)) return embed(call);
  Value const x = call.value(0);
  Tensor const& places = call.constant(1, "the numbers that it selects");
  int const axis = axis_in(call.integer("axis", 0), x.rank());
  auto numbers = call.integers_of(1, "the numbers that it selects");
  Index const extent = x.extent(axis);
  bool run = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < -extent || numbers[i] >= extent)
      refuse("it selects number " + std::to_string(numbers[i]) + " of " + std::to_string(extent) + " along an axis");
    numbers[i] += numbers[i] < 0 ? extent : 0;
    run = run && numbers[i] == numbers[0] + static_cast<Index>(i);
  }
  if (numbers.empty()) refuse("it selects nothing");
  if (x.axis(axis).samples) refuse("it selects samples");
  Value y = x;
  if (run) {
    y = part_of(call.network, x, axis, numbers[0], numbers[0] + static_cast<Index>(numbers.size()), "");
  } else {
    std::vector<float> values(numbers.begin(), numbers.end());
    Shape const shape{static_cast<Index>(values.size())};
    Sample const selected = call.network.constant(std::move(values), shape, "");
    y.sample = call.network.add("", Gather{.axis = x.place(axis)}, {x.sample, selected});
    y.axes[static_cast<std::size_t>(axis)] = {shape[0]};
  }
  // The axis becomes those of the numbers.
  std::vector<Axis> axes = y.axes;
  axes.erase(axes.begin() + axis);
  auto const of_numbers = axes_of(places);
  axes.insert(axes.begin() + axis, of_numbers.begin(), of_numbers.end());
  Value z{y.sample, axes, {}, x.type};
  int const more = places.rank() - 1;
  for (int const a : y.order) {
    if (a != axis) z.order.push_back(a < axis ? a : a + more);
    for (int i = 0; a == axis && i < places.rank(); ++i) z.order.push_back(axis + i);
  }
  z.sample = call.network.reshape(y.sample, shape_of(z.axes, z.order));
  call.set(z);
}
Tensor fold_gather(Call const& call) {
  Tensor const &x = call.constant(0, "its input"), &numbers = call.constant(1, "the numbers that it selects");
  int const axis = axis_in(call.integer("axis", 0), x.rank());
  if (x.samples_axis == axis || numbers.samples_axis >= 0) refuse("it selects samples");
  auto const a = static_cast<std::size_t>(axis);
  Index const extent = x.shape[a];
  std::vector<Index> shape = x.shape;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, numbers.shape.begin(), numbers.shape.end());
  Index inner = 1, outer = 1;
  for (std::size_t i = 0; i < x.shape.size(); ++i) (i < a ? outer : inner) *= i == a ? 1 : x.shape[i];
  std::vector<std::size_t> places;
  auto const selected = call.integers_of(1, "the numbers that it selects");
  call.network.count_constant(outer * inner * static_cast<Index>(selected.size()));
  for (Index o = 0; o < outer; ++o) {
    for (Index const number : selected) {
      if (number < -extent || number >= extent) refuse("it selects a number that is not on the axis");
      for (Index i = 0; i < inner; ++i)
        places.push_back(static_cast<std::size_t>((o * extent + (number < 0 ? number + extent : number)) * inner + i));
    }
  }
  Tensor result = picked(call, x, places, shape);
  if (x.samples_axis >= 0) result.samples_axis = x.samples_axis + (x.samples_axis > axis ? numbers.rank() - 1 : 0);
  return result;
}

void concat(Call& call) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < call.size(); ++i) values.push_back(call.value(i));
  if (values.empty()) refuse("it has no inputs");
  int const rank = values[0].rank(), axis = axis_in(call.integer("axis", 0), rank);
  std::vector<Axis> axes = values[0].axes;
  for (std::size_t i = 0; i < values.size(); ++i) {  // a constant is the same for each sample
    if (values[i].samples_axis() >= 0) axes = values[i].axes;
  }
  Index total = 0;
  for (Value const& value : values) {
    if (value.rank() != rank) refuse("its inputs have different numbers of axes");
    total += value.extent(axis);
  }
  if (axes[static_cast<std::size_t>(axis)].samples) refuse("it joins values along the axis of the samples");
  std::vector<int> const order = values[0].samples_axis() >= 0 ? values[0].order : natural(axes);
  std::vector<Sample> inputs;
  for (Value const& value : values) {
    std::vector<Axis> own = axes;
    own[static_cast<std::size_t>(axis)] = value.axis(axis);
    if (broadcast(own, value.axes) != own) refuse("its inputs differ along another axis than the one that it joins");
    inputs.push_back(expanded(call.network, value, own, order));
  }
  axes[static_cast<std::size_t>(axis)] = {total};
  Value y = made({}, axes, values[0].type);
  y.order = order;
  constexpr std::size_t most = 8;
  while (inputs.size() > 1) {
    std::vector<Sample> next;
    for (std::size_t i = 0; i < inputs.size(); i += most) {
      std::vector<Sample> const some(inputs.begin() + static_cast<std::ptrdiff_t>(i),
                                     inputs.begin() + static_cast<std::ptrdiff_t>(std::min(i + most, inputs.size())));
      next.push_back(some.size() == 1
                         ? some[0]
                         : call.network.add(inputs.size() > most ? "part" : "", Concat{.axis = y.place(axis)}, some));
    }
    inputs = std::move(next);
  }
  y.sample = inputs[0];
  call.set(y);
}
Tensor fold_concat(Call const& call) {
  Tensor const& first = call.constant(0, "its input");
  int const axis = axis_in(call.integer("axis", 0), first.rank());
  auto const a = static_cast<std::size_t>(axis);
  std::vector<Index> shape = first.shape;
  Index inner = 1, outer = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) (i < a ? outer : inner) *= i == a ? 1 : shape[i];
  shape[a] = 0;
  for (std::size_t i = 0; i < call.size(); ++i) {
    Tensor const& each = call.constant(i, "its input");
    std::vector<Index> same = each.shape;
    if (same.size() != shape.size() || each.type != first.type) refuse("its inputs do not fit each other");
    if (each.samples_axis == axis) refuse("it joins samples");
    shape[a] += same[a];
    same[a] = first.shape[a];
    if (same != first.shape) refuse("its inputs differ along another axis than the one that it joins");
  }
  Tensor result = tensor_for(call, first.type, shape);
  std::size_t to = 0;
  for (Index o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < call.size(); ++i) {
      Tensor const& each = call.constant(i, "its input");
      auto const count = static_cast<std::size_t>(each.shape[a] * inner), from = static_cast<std::size_t>(o) * count;
      for (std::size_t k = 0; k < count; ++k, ++to) {
        if (first.floating()) {
          result.floats[to] = each.floats[from + k];
        } else {
          result.ints[to] = each.ints[from + k];
        }
      }
    }
  }
  result.origin = first.origin;
  result.samples_axis = first.samples_axis;
  return result;
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
  layer.value = call.opset < 11 ? call.number("value", 0) : call.has(2) ? float_at(call.constant(2, "value"), 0) : 0;
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

constexpr std::array rows{
    Operator{"Slice", slice, fold_slice, "`slice`; with steps of 1"},
    Operator{"Split", split, nullptr, "`slice`"},
    Operator{"Gather", gather, fold_gather, "`embedding` of a constant, `slice` or `gather` with constant numbers"},
    Operator{"Concat", concat, fold_concat, "`concat`; not of samples"},
    Operator{"Pad", pad, nullptr, "`pad`, or part of a convolution; constant, reflect and edge"},
};

}  // namespace

std::span<Operator const> slice_operators() { return rows; }

}  // namespace coldpress::convert::onnx
