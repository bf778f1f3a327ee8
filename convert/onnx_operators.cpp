// Joins the tables of operators, and reads the inputs and attributes of a node with their types.
#include "onnx_operators.hpp"

#include <coldpress/persist/model.hpp>

#include <algorithm>

namespace coldpress::convert::onnx {

std::map<std::string_view, Operator> const& operators() {
  static auto const all = [] {
    std::map<std::string_view, Operator> table;
    for (auto const family : {activation_operators, arithmetic_operators, attention_operators, axis_operators,
                              constant_operators, convolution_operators, gather_operators, matrix_operators,
                              normalization_operators, pooling_operators, recurrent_operators, reduction_operators,
                              reshape_operators, resize_operators, shape_operators, slice_operators}) {
      for (Operator const& row : family()) table.emplace(row.name, row);
    }
    return table;
  }();
  return all;
}

Tensor const& Call::constant(std::size_t i, char const* what) const {
  if (!has(i)) refuse(std::string{what} + " is missing");
  if (!is_constant(i)) refuse(std::string{what} + " is computed at run time, and must be a constant");
  return *std::get<Constant>(inputs_[i]);
}

std::vector<Index> Call::integers_of(std::size_t i, char const* what) const {
  Tensor const& tensor = constant(i, what);
  std::vector<Index> all;
  for (Int const value : tensor.ints) {
    if (value.samples) refuse(std::string{what} + " depends on the number of samples");
    all.push_back(value.factor);
  }
  if (tensor.floating()) refuse(std::string{what} + " is not of whole numbers");
  return all;
}

std::vector<Int> Call::ints(std::size_t i, char const* attribute) const {
  std::vector<Int> all;
  if (has(i)) {
    Tensor const& tensor = constant(i, attribute);
    if (tensor.floating()) refuse(std::string{attribute} + " is not of whole numbers");
    return tensor.ints;
  }
  for (Index const value : integers(attribute)) all.push_back({value});
  return all;
}

Value Call::value(std::size_t i) const {
  if (!has(i)) refuse("input " + std::to_string(i) + " is missing");
  if (is_computed(i)) return std::get<Value>(inputs_[i]);
  Tensor const& tensor = *std::get<Constant>(inputs_[i]);
  std::vector<Axis> const axes = axes_of(tensor);
  std::vector<float> values = tensor.floats;
  for (Int const value : tensor.ints) {
    if (value.samples) refuse("input " + std::to_string(i) + " depends on the number of samples");
    values.push_back(static_cast<float>(value.factor));
  }
  if (values.empty()) refuse("input " + std::to_string(i) + " has no values");
  Value made = onnx::made({}, axes, tensor.type);
  made.sample = network.constant(std::move(values), shape_of(axes, made.order), tensor.origin);
  return made;
}

template <class T>
T const* Call::find(std::string_view attribute) const {
  auto const found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return nullptr;
  T const* const value = std::get_if<T>(&found->second);
  if (!value) refuse("its attribute '" + persist::printable(attribute) + "' has another type than ONNX says");
  return value;
}
Index Call::integer(std::string_view attribute, Index otherwise) const {
  Index const* const value = find<Index>(attribute);
  return value ? *value : otherwise;
}
float Call::number(std::string_view attribute, float otherwise) const {
  float const* const value = find<float>(attribute);
  return value ? *value : otherwise;
}
std::string Call::text(std::string_view attribute, std::string const& otherwise) const {
  std::string const* const value = find<std::string>(attribute);
  return value ? *value : otherwise;
}
std::vector<Index> Call::integers(std::string_view attribute, std::vector<Index> const& otherwise) const {
  auto const* const value = find<std::vector<Index>>(attribute);
  return value ? *value : otherwise;
}
std::vector<float> Call::numbers(std::string_view attribute) const {
  auto const* const value = find<std::vector<float>>(attribute);
  return value ? *value : std::vector<float>{};
}

int axis_in(Index axis, int rank) {
  if (axis < -rank || axis >= rank)
    refuse("axis " + std::to_string(axis) + " is none of a value with " + std::to_string(rank) + " axes");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Value with(Value const& like, Sample sample) { return {std::move(sample), like.axes, like.order, like.type}; }

Value made(Sample sample, std::vector<Axis> axes, Type type) {
  std::vector<int> order = natural(axes);
  return {std::move(sample), std::move(axes), std::move(order), type};
}

Sample numbers_by_sample(Call& call, std::size_t input, std::string const& what) {
  Value const numbers = call.value(input);
  Sample const one = call.network.natural(numbers);
  if (numbers.samples_axis() < 0 || one.shape.size() != 1)
    refuse("its " + what + " are " + described(numbers.axes) + ", and not one for each of the samples");
  return call.network.reshape(one, {1});
}

namespace {

/// Neighbouring axes of a value that become neighbouring axes of another one with the same values: runs of them with
/// the same product, as short as possible.
struct Run {
  std::vector<int> from, to;
};
std::vector<Run> runs_of(std::vector<Axis> const& from, std::vector<Axis> const& to) {
  std::vector<Run> runs;
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Run run;
    Index of_from = 1, of_to = 1;
    do {
      bool const takes_from =
          i < from.size() && (of_from < of_to || j == to.size() || (of_from == of_to && run.from.empty()));
      if (takes_from) {
        of_from *= from[i].extent(), run.from.push_back(static_cast<int>(i++));
      } else if (j < to.size()) {
        of_to *= to[j].extent(), run.to.push_back(static_cast<int>(j++));
      } else {
        return {};
      }
    } while (of_from != of_to);
    runs.push_back(std::move(run));
  }
  return runs;
}

/// The order in which the samples, as they are, have the new axes; nothing if they must be permuted first.
std::optional<std::vector<int>> order_after(Value const& x, std::vector<Axis> const& axes) {
  auto runs = runs_of(x.axes, axes);
  auto const place = [&](Run const& run) {  // of its first axis that has places
    for (int const a : run.from)
      if (x.extent(a) > 1) return x.place(a);
    return -1;
  };
  for (Run const& run : runs) {
    int next = place(run);
    for (int const a : run.from) {
      if (x.extent(a) == 1) continue;
      while (next < static_cast<int>(x.order.size()) && x.extent(x.order[static_cast<std::size_t>(next)]) == 1) ++next;
      if (x.place(a) != next++) return {};
    }
  }
  std::ranges::stable_sort(runs, {}, place);
  std::vector<int> order;
  for (Run const& run : runs) {
    for (int const a : run.to)
      if (axes[static_cast<std::size_t>(a)].extent() > 1) order.push_back(a);
  }
  insert_single(order, axes);
  return order;
}

}  // namespace

void insert_single(std::vector<int>& order, std::vector<Axis> const& axes) {
  for (int a = 0; a < static_cast<int>(axes.size()); ++a) {
    if (axes[static_cast<std::size_t>(a)].hidden() || std::ranges::find(order, a) != order.end()) continue;
    order.insert(std::ranges::find_if(order, [&](int other) { return other > a; }), a);
  }
}

Value viewed(Network& network, Value const& x, std::vector<Axis> const& axes) {
  Value y = made({}, axes, x.type);
  if (auto const order = order_after(x, axes)) {
    y.order = *order;
    y.sample = network.reshape(x.sample, shape_of(axes, y.order));
  } else {
    y.sample = network.reshape(network.natural(x), shape_of(axes, y.order));
  }
  return y;
}

std::vector<Axis> axes_of(Tensor const& tensor) {
  std::vector<Axis> axes;
  for (int a = 0; a < tensor.rank(); ++a)
    axes.push_back({tensor.shape[static_cast<std::size_t>(a)], 1, a == tensor.samples_axis});
  return axes;
}

std::vector<Axis> broadcast(std::vector<Axis> const& a, std::vector<Axis> const& b) {
  std::vector<Axis> all = a.size() >= b.size() ? a : b;
  std::vector<Axis> const& less = a.size() >= b.size() ? b : a;
  auto const more = all.size() - less.size();
  for (std::size_t i = 0; i < less.size(); ++i) {
    Axis& axis = all[more + i];
    bool const fits = axis == less[i] || (!less[i].samples && less[i].extent() == 1);
    bool const repeats = !axis.samples && axis.extent() == 1;
    if (!fits && !repeats) refuse("its inputs " + described(a) + " and " + described(b) + " cannot be joined");
    if (!fits) axis = less[i];
  }
  if (std::ranges::count_if(all, &Axis::samples) > 1)
    refuse("its inputs " + described(a) + " and " + described(b) + " have the samples along different axes");
  return all;
}

Sample expanded(Network& network, Value const& x, std::vector<Axis> const& axes, std::vector<int> const& order) {
  Value padded = x;  // with as many axes
  int const more = static_cast<int>(axes.size()) - x.rank();
  padded.axes.insert(padded.axes.begin(), static_cast<std::size_t>(more), Axis{});
  for (int& a : padded.order) a += more;
  Sample const sample = network.arranged(padded, order);
  Shape const shape = shape_of(axes, order);
  return sample.shape == shape ? sample : network.add("repeated", Expand{.shape = shape}, {sample});
}

}  // namespace coldpress::convert::onnx
