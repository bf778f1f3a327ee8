// Products of matrices: Linear with a constant, MatMul of two values.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

/// The last axis of x times a matrix with a row for each output, which has a number for each place on the axis.
Value linear(Call& call, Value const& x, Tensor const& rows, std::vector<float> bias, std::string const& bias_origin) {
  int const last = x.rank() - 1;
  Index const outputs = rows.shape[0];
  if (x.axis(last).samples || x.extent(last) != rows.shape[1])
    refuse("a matrix of " + std::to_string(rows.shape[1]) + " inputs does not fit " + described(x.axes));
  std::vector<int> order = x.order;  // the axis comes last
  std::erase(order, last);
  order.push_back(last);
  Value y{call.network.arranged(x, order), x.axes, order};
  y.axes.back() = {outputs};
  std::vector<Weight> weights{{"-0", rows.shape, rows.floats, rows.origin}};
  bool const has_bias = !bias.empty();
  if (has_bias) weights.push_back({"-0-bias", {outputs}, std::move(bias), bias_origin});
  Linear const layer{.output_size = outputs, .has_bias = has_bias, .last_axis = order.size() > 1};
  y.sample = call.network.add("", layer, {y.sample}, std::move(weights));
  return y;
}

/// A bias for each of the outputs, of a constant that may be one number or have more axes of one place.
std::vector<float> bias_of(Tensor const& tensor, Index outputs, float factor) {
  bool const fits =
      tensor.floating() && (tensor.size() == 1 || (tensor.size() == outputs && tensor.shape.back() == outputs));
  if (!fits) refuse("its bias does not have one number for each of " + std::to_string(outputs) + " outputs");
  std::vector<float> values(static_cast<std::size_t>(outputs), tensor.floats[0] * factor);
  for (std::size_t i = 0; tensor.size() != 1 && i < values.size(); ++i) values[i] = tensor.floats[i] * factor;
  return values;
}

void product(Call& call, Value a, Value b) {
  int const rank = std::max(a.rank(), b.rank());
  if (a.rank() < 2 || b.rank() < 2) refuse("one of its inputs is a vector that is computed");
  for (Value* const value : {&a, &b}) {  // as many axes
    int const more = rank - value->rank();
    value->axes.insert(value->axes.begin(), static_cast<std::size_t>(more), Axis{});
    for (int& axis : value->order) axis += more;
  }
  std::vector<Axis> outer_a(a.axes.begin(), a.axes.end() - 2), outer_b(b.axes.begin(), b.axes.end() - 2);
  std::vector<Axis> const outer = broadcast(outer_a, outer_b);
  for (Value const* const value : {&a, &b}) {
    if (value->axis(rank - 1).samples || value->axis(rank - 2).samples)
      refuse("the samples are along an axis of its matrices " + described(a.axes) + " and " + described(b.axes));
  }
  // A second matrix that is stored transposed need not be permuted, because MatMul can transpose it.
  bool const turned = b.order.size() >= 2 && b.order.back() == rank - 2 && b.order[b.order.size() - 2] == rank - 1;
  auto const arranged = [&](Value const& value, bool swapped) {
    std::vector<Axis> all = outer;
    all.insert(all.end(), value.axes.end() - 2, value.axes.end());
    std::vector<int> order = natural(all);
    if (swapped) std::swap(order.back(), order[order.size() - 2]);
    return expanded(call.network, value, all, order);
  };
  Sample const sample = call.network.add("", MatMul{.transpose = turned}, {arranged(a, false), arranged(b, turned)});
  std::vector<Axis> axes = outer;
  axes.push_back(a.axis(rank - 2)), axes.push_back(b.axis(rank - 1));
  call.set(made(sample, axes));
}

/// A matrix product, with the bias that a pattern (onnx_patterns.cpp) may have added to it.
void matmul(Call& call) {
  auto const is_matrix = [&](std::size_t i) {
    return call.is_constant(i) && call.constant(i, "a matrix").rank() == 2 && call.constant(i, "a matrix").floating();
  };
  // A matrix may have more axes of extent 1 before its own.
  auto const is_one = [&](Tensor const& m, int rank) {
    return m.floating() && m.rank() >= 2 && m.rank() <= rank &&
           std::all_of(m.shape.begin(), m.shape.end() - 2, [](Index e) { return e == 1; });
  };
  if (call.is_computed(0) && call.is_constant(1) &&
      is_one(call.constant(1, "a matrix"), std::max(2, call.value(0).rank()))) {
    Tensor matrix = call.constant(1, "a matrix");
    matrix.shape.erase(matrix.shape.begin(), matrix.shape.end() - 2);
    Tensor const rows = transposed(matrix, {1, 0});
    if (!call.has(2)) return call.set(linear(call, call.value(0), rows, {}, ""));
    Tensor const& bias = call.constant(2, "its bias");
    return call.set(linear(call, call.value(0), rows, bias_of(bias, rows.shape[0], 1), bias.origin));
  }
  if (call.has(2)) refuse("it has a bias without a constant matrix");
  if (is_matrix(0) && call.is_computed(1) && call.value(1).rank() >= 2) {  // the columns of x times the rows
    Value x = call.value(1);
    auto const swap = [](Value& value) {
      int const last = value.rank() - 1;
      std::swap(value.axes[static_cast<std::size_t>(last)], value.axes[static_cast<std::size_t>(last) - 1]);
      for (int& a : value.order) a = a == last ? last - 1 : a == last - 1 ? last : a;
    };
    swap(x);
    Value y = linear(call, x, call.constant(0, "a matrix"), {}, "");
    swap(y);
    return call.set(y);
  }
  product(call, call.value(0), call.value(1));
}

/// The product of one matrix or several, and one matrix, as constants.
Tensor fold_matmul(Call const& call) {
  Tensor const &a = call.constant(0, "its first input"), &b = call.constant(1, "its second input");
  if (!a.floating() || !b.floating() || a.rank() < 2 || b.rank() != 2 || a.shape.back() != b.shape[0] ||
      a.samples_axis == a.rank() - 1 || b.samples_axis >= 0 || call.has(2))
    refuse("it multiplies two constants that are not matrices");
  std::vector<Index> shape = a.shape;
  Index const inner = b.shape[0], columns = shape.back() = b.shape[1];
  Index const rows = inner == 0 ? 0 : a.size() / inner;
  constexpr Index most = Index{1} << 28;
  if (inner > 0 && columns > 0 && rows > most / inner / columns) refuse("it multiplies constants that are too large");
  Tensor result = tensor_for(call, a.type, std::move(shape));
  result.samples_axis = a.samples_axis;
  for (Index r = 0; r < rows; ++r) {
    for (Index k = 0; k < inner; ++k) {
      for (Index c = 0; c < columns; ++c) {
        result.floats[static_cast<std::size_t>(r * columns + c)] +=
            a.floats[static_cast<std::size_t>(r * inner + k)] * b.floats[static_cast<std::size_t>(k * columns + c)];
      }
    }
  }
  return result;
}

void gemm(Call& call) {
  float const alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  Value x = call.value(0);
  if (x.rank() != 2) refuse("its first input is " + described(x.axes) + ", and not a matrix");
  auto const swap = [](Value& value) {
    std::swap(value.axes[0], value.axes[1]);
    for (int& a : value.order) a = 1 - a;
  };
  if (call.integer("transA", 0) != 0) swap(x);
  bool const turned = call.integer("transB", 0) != 0;
  if (!call.is_constant(1)) {
    Value b = call.value(1);
    if (b.rank() != 2) refuse("its second input is " + described(b.axes) + ", and not a matrix");
    if (turned) swap(b);
    if (alpha != 1 || call.has(2)) refuse("its matrices are both computed, and it does more than multiply them");
    return product(call, x, b);
  }
  Tensor const& matrix = call.constant(1, "its matrix");
  if (matrix.rank() != 2 || !matrix.floating()) refuse("its second input is no matrix");
  Tensor rows = turned ? matrix : transposed(matrix, {1, 0});
  for (float& value : rows.floats) value *= alpha;
  bool const constant = call.is_constant(2);
  std::vector<float> bias;
  if (constant && beta != 0) bias = bias_of(call.constant(2, "its bias"), rows.shape[0], beta);
  Value const y = linear(call, x, rows, bias, constant ? call.constant(2, "its bias").origin : "");
  if (!call.has(2) || constant || beta == 0) return call.set(y);
  Value sum = call.value(2);
  if (beta != 1) sum.sample = call.network.add("beta", Power{.scale = beta}, {sum.sample});
  call.set(joined(call.network, "sum", Add{}, y, sum));
}

}  // namespace

std::span<Operator const> matrix_operators() {
  static constexpr std::array rows{
      Operator{"MatMul", matmul, fold_matmul,
               "`linear` with a constant, also with the Add of a bias; otherwise `product`"},
      Operator{"Gemm", gemm, nullptr, "`linear`; alpha and beta go into its weights"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
