// Sums, means and maxima along axes, and softmax.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace coldpress::convert::onnx {
namespace {

/// The axes that a reduction names; none: all.
std::vector<int> axes_of_reduction(Call const& call, int rank) {
  Index const first_opset_with_input = call.node.op == "ReduceSum" ? 13 : 18;
  auto named =
      call.opset >= first_opset_with_input && call.has(1) ? call.integers_of(1, "axes") : call.integers("axes");
  if (named.empty() && call.integer("noop_with_empty_axes", 0) != 0) return {};
  if (named.empty()) named.resize(static_cast<std::size_t>(rank)), std::iota(named.begin(), named.end(), 0);
  std::vector<int> axes;
  for (Index const axis : named) axes.push_back(axis_in(axis, rank));
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool contains(std::vector<int> const& axes, int a) { return std::ranges::find(axes, a) != axes.end(); }

/// The value without these axes, or with one place on each, whose samples have lost them.
Value without(Network& network, Value const& x, Sample const& sample, std::vector<int> const& axes, bool keep) {
  Value y{sample, {}, {}, x.type};
  std::vector<int> now(x.axes.size(), -1);
  for (int a = 0; a < x.rank(); ++a) {
    if (contains(axes, a) && !keep) continue;
    now[static_cast<std::size_t>(a)] = y.rank();
    y.axes.push_back(contains(axes, a) ? Axis{} : x.axis(a));
  }
  for (int const a : x.order) {
    if (now[static_cast<std::size_t>(a)] >= 0) y.order.push_back(now[static_cast<std::size_t>(a)]);
  }
  y.sample = network.reshape(sample, shape_of(y.axes, y.order));
  return y;
}

/// Reduces runs of neighbouring axes of the samples, from the last one on.
Sample reduced(Network& network, Value const& x, std::vector<int> const& axes, ReduceOperation operation) {
  Sample y = x.sample;
  std::vector<Index> extents;
  std::vector<bool> goes;
  for (int const a : x.order) {  // neighbours that are all reduced, or all kept, become one axis
    if (!extents.empty() && goes.back() == contains(axes, a)) {
      extents.back() *= x.extent(a);
    } else {
      extents.push_back(x.extent(a)), goes.push_back(contains(axes, a));
    }
  }
  auto const shape = [&] {
    Shape s{};
    for (std::size_t i = 0; i < extents.size(); ++i) s.extents[i] = extents[i];
    if (extents.empty()) s.extents[0] = 1;
    return s;
  };
  y = network.reshape(y, shape());
  bool const channels = operation == ReduceOperation::mean && goes == std::vector{false, true};
  if (channels) return network.add("", GlobalAveragePooling{}, {y});
  auto left = std::ranges::count(goes, true);
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (!goes[i]) continue;
    y = network.add(--left == 0 ? "" : "part", Reduce{.operation = operation, .axis = static_cast<int>(i)}, {y});
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return y;
}

/// A function of each value before, a reduction, and one after it.
void reduce(Call& call, ReduceOperation operation, Power const& before, Power const& after, bool absolute = false) {
  Value x = call.value(0);
  auto const axes = axes_of_reduction(call, x.rank());
  for (int const a : axes)
    if (x.axis(a).samples) refuse("it reduces over the samples");
  if (absolute) {
    Sample const minus = call.network.add("minus", Power{.scale = -1}, {x.sample});
    x.sample = call.network.add("absolute", Max{}, {x.sample, minus});
  }
  if (before != Power{}) x.sample = call.network.add("before", before, {x.sample});
  bool const keep = call.integer("keepdims", 1) != 0;
  Value y = axes.empty() ? x : without(call.network, x, reduced(call.network, x, axes, operation), axes, keep);
  if (after != Power{}) y.sample = call.network.add("after", after, {y.sample});
  call.set(y);
}
template <ReduceOperation operation>
void plain(Call& call) {
  reduce(call, operation, {}, {});
}
void sum_of_squares(Call& call) { reduce(call, ReduceOperation::sum, {.power = 2}, {}); }
void norm(Call& call) { reduce(call, ReduceOperation::sum, {.power = 2}, {.power = 0.5f}); }
void absolute_sum(Call& call) { reduce(call, ReduceOperation::sum, {}, {}, true); }

/// The result of an operation on two values.
template <class T>
T combined(ReduceOperation operation, T a, T b) {
  auto const less = [](T x, T y) {
    if constexpr (std::is_same_v<T, Int>) {
      return (x - y).factor < 0;
    } else {
      return x < y;
    }
  };
  switch (operation) {
    case ReduceOperation::max:
      return less(a, b) ? b : a;
    case ReduceOperation::min:
      return less(b, a) ? b : a;
    case ReduceOperation::prod:
      return a * b;
    default:
      return a + b;
  }
}

/// The same of a constant, in double until the end.
Tensor folded(Call const& call, ReduceOperation operation, double (*before)(double), double (*after)(double)) {
  Tensor const& x = call.constant(0, "its input");
  if (x.size() == 0) refuse("it reduces a constant without values");
  if (!x.floating() && (before || after || operation == ReduceOperation::mean))
    refuse("it is applied to whole numbers");
  auto const axes = axes_of_reduction(call, x.rank());
  std::vector<Index> shape = x.shape;
  for (int const a : axes) {
    if (a == x.samples_axis) refuse("it reduces over the samples");
    shape[static_cast<std::size_t>(a)] = 1;
  }
  Tensor result = tensor_for(call, x.type, shape);
  auto const to = places_in(shape, x.shape);
  auto const reduce_all = [&](auto const& values, auto& sums) {
    std::vector<bool> begun(sums.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::remove_cvref_t<decltype(sums[0])> value{values[i]};
      if constexpr (!std::is_same_v<decltype(value), Int>) value = before ? before(value) : value;
      sums[to[i]] = begun[to[i]] ? combined(operation, sums[to[i]], value) : value;
      begun[to[i]] = true;
    }
  };
  if (x.floating()) {
    std::vector<double> sums(result.floats.size());
    reduce_all(x.floats, sums);
    double const count = operation == ReduceOperation::mean ? static_cast<double>(to.size() / sums.size()) : 1;
    for (std::size_t i = 0; i < sums.size(); ++i)
      result.floats[i] = static_cast<float>(after ? after(sums[i]) : sums[i] / count);
  } else {
    reduce_all(x.ints, result.ints);
    for (Int& each : result.ints) each = wrapped(x.type, each);
  }
  result.samples_axis = x.samples_axis;
  result.origin = x.origin;
  if (call.integer("keepdims", 1) != 0) return result;
  for (std::size_t i = axes.size(); i-- > 0;) {
    result.shape.erase(result.shape.begin() + axes[i]);
    if (axes[i] < result.samples_axis) --result.samples_axis;
  }
  return result;
}
template <ReduceOperation operation>
Tensor fold_plain(Call const& call) {
  return folded(call, operation, nullptr, nullptr);
}
double square(double x) { return x * x; }
Tensor fold_sum_of_squares(Call const& call) { return folded(call, ReduceOperation::sum, square, nullptr); }
Tensor fold_norm(Call const& call) {
  return folded(call, ReduceOperation::sum, square, [](double x) { return std::sqrt(x); });
}
Tensor fold_absolute_sum(Call const& call) {
  return folded(
      call, ReduceOperation::sum, [](double x) { return std::abs(x); }, nullptr);
}

void arg_max(Call& call) {
  Value const x = call.value(0);
  int const axis = axis_in(call.integer("axis", 0), x.rank());
  if (x.axis(axis).samples) refuse("it compares samples");
  if (call.integer("select_last_index", 0) != 0) refuse("it takes the last one of equal values");
  Sample const places = call.network.add("", Argmax{.axis = x.place(axis)}, {x.sample});
  Value y = without(call.network, x, places, {axis}, call.integer("keepdims", 1) != 0);
  y.type = Type::int64;
  call.set(y);
}

void top_k(Call& call) {
  Value x = call.value(0);
  auto const k = call.integers_of(1, "K");
  int const axis = axis_in(call.integer("axis", -1), x.rank());
  if (call.used(1)) refuse("the places of the values are read, which no layer gives");
  if (call.integer("largest", 1) == 0) refuse("it takes the smallest values");
  if (k.size() != 1 || k[0] < 1 || k[0] > x.extent(axis) || x.axis(axis).samples)
    refuse("it takes impossibly many values");
  x.sample = call.network.add("", TopK{.k = k[0], .axis = x.place(axis)}, {x.sample});
  x.axes[static_cast<std::size_t>(axis)] = {k[0]};
  call.set(x);
}

void softmax(Call& call, bool logarithm) {
  Value const x = call.value(0);
  bool const old = call.opset < 13;  // which took all axes from one on together
  int const axis = axis_in(call.integer("axis", old ? 1 : -1), x.rank());
  std::vector<int> lines;
  for (int a = axis; a < (old ? x.rank() : axis + 1); ++a) lines.push_back(a);
  for (int const a : lines)
    if (x.axis(a).samples) refuse("it is over the samples");
  if (lines.size() == 1) {
    if (x.order.size() == 1 && logarithm) return call.set(with(x, call.network.add("", LogSoftmax{}, {x.sample})));
    if (x.order.size() == 1) return call.set(with(x, call.network.add("", Softmax{}, {x.sample})));
    SoftmaxOver const layer{.axis = x.place(axis), .logarithm = logarithm};
    return call.set(with(x, call.network.add("", layer, {x.sample})));
  }
  std::vector<Axis> axes(x.axes.begin(), x.axes.begin() + axis);
  axes.push_back({1});
  for (int const a : lines) axes.back().before *= x.extent(a);
  Value const line = viewed(call.network, x, axes);
  SoftmaxOver const layer{.axis = -1, .logarithm = logarithm};
  call.set(viewed(call.network, with(line, call.network.add("", layer, {line.sample})), x.axes));
}
void plain_softmax(Call& call) { softmax(call, false); }
void log_softmax(Call& call) { softmax(call, true); }

}  // namespace

std::span<Operator const> reduction_operators() {
  static constexpr std::array rows{
      Operator{"ReduceMean", plain<ReduceOperation::mean>, fold_plain<ReduceOperation::mean>,
               "`reduce` or `globalAveragePooling`"},
      Operator{"ReduceSum", plain<ReduceOperation::sum>, fold_plain<ReduceOperation::sum>, "`reduce`"},
      Operator{"ReduceMax", plain<ReduceOperation::max>, fold_plain<ReduceOperation::max>, "`reduce`"},
      Operator{"ReduceMin", plain<ReduceOperation::min>, fold_plain<ReduceOperation::min>, "`reduce`"},
      Operator{"ReduceProd", plain<ReduceOperation::prod>, fold_plain<ReduceOperation::prod>, "`reduce`"},
      Operator{"ReduceL1", absolute_sum, fold_absolute_sum, "`power`, `max`, `reduce`"},
      Operator{"ReduceL2", norm, fold_norm, "`power`, `reduce`, `power`"},
      Operator{"ReduceSumSquare", sum_of_squares, fold_sum_of_squares, "`power`, `reduce`"},
      Operator{"ArgMax", arg_max, nullptr, "`argmax`"},
      Operator{"TopK", top_k, nullptr, "`topK`; the values, not their places"},
      Operator{"Softmax", plain_softmax, nullptr, "`softmax` or `softmaxOver`"},
      Operator{"LogSoftmax", log_softmax, nullptr, "`logSoftmax` or `softmaxOver`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
