// Values that are selected by numbers, and values that are joined.
#include "onnx_constants.hpp"
#include "onnx_slices.hpp"
#include "weights.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

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
    y = places_of(call.network, x, axis, numbers);
  }
  // The axes of the numbers take the place of the axis.
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
  call.network.check_constant(static_cast<Index>(selected.size()));
  if (outer > 0 && inner > 0 && static_cast<Index>(selected.size()) > max_values / outer / inner)
    refuse("it makes a constant with more than 2^33 values");
  call.network.check_constant(outer * inner * static_cast<Index>(selected.size()));
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

/// The parts of a constant that the numbers along the last axis of `places` name.
struct SelectedParts {
  std::vector<std::size_t> first;  // where each begins
  std::size_t size = 1;            // the values of each
  std::vector<Index> shape;        // of all parts together
};
SelectedParts parts_of(Call const& call, Tensor const& whole, Tensor const& places) {
  Index const depth = places.rank() > 0 ? places.shape.back() : 0;
  if (depth < 1 || depth > whole.rank())
    refuse("its indices are " + persist::text(places.shape) + ", and its input is " + persist::text(whole.shape));
  if (whole.samples_axis >= 0 || places.samples_axis >= 0) refuse("it selects samples");
  SelectedParts parts{.first = {}, .shape = {places.shape.begin(), places.shape.end() - 1}};
  parts.shape.insert(parts.shape.end(), whole.shape.begin() + depth, whole.shape.end());
  for (auto a = static_cast<std::size_t>(depth); a < whole.shape.size(); ++a)
    parts.size *= static_cast<std::size_t>(whole.shape[a]);
  auto const numbers = call.integers_of(1, "its indices");
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(depth); ++a, ++i) {
      Index const extent = whole.shape[a], number = numbers[i] + (numbers[i] < 0 ? extent : 0);
      if (number < 0 || number >= extent)
        refuse("it names part " + std::to_string(numbers[i]) + " of " + std::to_string(extent));
      at = at * static_cast<std::size_t>(extent) + static_cast<std::size_t>(number);
    }
    parts.first.push_back(at * parts.size);
  }
  return parts;
}

/// A constant some of whose parts are replaced by those of another.
Tensor fold_scatter(Call const& call) {
  Tensor result = call.constant(0, "its input");
  Tensor const& updates = call.constant(2, "its updates");
  if (call.text("reduction", "none") != "none") refuse("it adds or compares what it replaces");
  SelectedParts const parts = parts_of(call, result, call.constant(1, "its indices"));
  if (updates.type != result.type || updates.samples_axis >= 0) refuse("its updates are no values of its input's type");
  if (updates.shape != parts.shape)
    refuse("its updates are " + persist::text(updates.shape) + ", expected " + persist::text(parts.shape));
  auto const replace = [&](auto& values, auto const& with) {
    auto from = with.begin();
    for (std::size_t const first : parts.first) {
      std::copy_n(from, parts.size, values.begin() + static_cast<std::ptrdiff_t>(first));
      from += static_cast<std::ptrdiff_t>(parts.size);
    }
  };
  if (result.floating()) {
    replace(result.floats, updates.floats);
  } else {
    replace(result.ints, updates.ints);
  }
  return result;
}
/// Parts of a constant.
Tensor fold_gather_parts(Call const& call) {
  Tensor const& whole = call.constant(0, "its input");
  if (call.integer("batch_dims", 0) != 0) refuse("it selects constants for each sample");
  SelectedParts const parts = parts_of(call, whole, call.constant(1, "its indices"));
  auto const size = size_of(parts.shape);
  if (!size) refuse("a constant would have the impossible shape " + persist::text(parts.shape));
  call.network.check_constant(*size);
  std::vector<std::size_t> places;
  for (std::size_t const first : parts.first) {
    for (std::size_t i = 0; i < parts.size; ++i) places.push_back(first + i);
  }
  return picked(call, whole, places, parts.shape);
}

/// Parts of each sample, at places of its own.
void gather_of_samples(Call& call) {
  Value const x = call.value(0), places = call.value(1);
  bool const fits = call.integer("batch_dims", 0) == 1 && x.rank() > 1 && places.rank() > 1 && x.axis(0).hidden() &&
                    places.axis(0).hidden() && places.extent(places.rank() - 1) == 1;
  if (!fits) {
    refuse("it selects by " + described(places.axes) + " from " + described(x.axes) + " with batch_dims " +
           std::to_string(call.integer("batch_dims", 0)) + ", and not by [samples, places, 1] with 1");
  }
  std::vector<Axis> axes(places.axes.begin(), places.axes.end() - 1);
  axes.insert(axes.end(), x.axes.begin() + 2, x.axes.end());
  Sample const numbers = call.network.natural(places);
  Sample const y =
      call.network.add("", Gather{}, {call.network.natural(x), call.network.reshape(numbers, {numbers.shape.size()})});
  Value value = made(y, axes, x.type);
  value.sample = call.network.reshape(y, shape_of(axes, value.order));
  call.set(value);
}

void one_hot(Call& call) {
  Value const x = call.value(0);
  auto const depth = call.integers_of(1, "the number of classes");
  Tensor const& values = call.constant(2, "its values");
  if (depth.size() != 1) refuse("it has " + std::to_string(depth.size()) + " numbers of classes");
  if (values.size() != 2 || float_at(values, 0) != 0 || float_at(values, 1) != 1) refuse("its values are not 0 and 1");
  int const axis = axis_in(call.integer("axis", -1), x.rank() + 1);
  std::vector<Axis> axes = x.axes;
  axes.insert(axes.begin() + axis, Axis{});
  Value y = made({}, axes, values.type);
  Sample const numbers = call.network.reshape(call.network.natural(x), shape_of(axes, y.order));
  y.sample = call.network.add("", Onehot{.num_classes = depth[0], .axis = y.place(axis)}, {numbers});
  y.axes[static_cast<std::size_t>(axis)] = {depth[0]};
  call.set(y);
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

}  // namespace

std::span<Operator const> gather_operators() {
  static constexpr std::array rows{
      Operator{"Gather", gather, fold_gather, "`embedding` of a constant, `slice` or `gather` with constant numbers"},
      Operator{"GatherND", gather_of_samples, fold_gather_parts,
               "`gather`, of parts of each sample: with batch_dims 1"},
      Operator{"ScatterND", nullptr, fold_scatter, "constants only; without a reduction"},
      Operator{"OneHot", one_hot, nullptr, "`onehot`; of 0 and 1"},
      Operator{"Concat", concat, fold_concat, "`concat`; not of samples"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
