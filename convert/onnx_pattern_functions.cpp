// Activations and normalisations that are made of several operators.
#include "onnx_matcher.hpp"

#include <algorithm>
#include <numeric>

namespace coldpress::convert::onnx {
namespace {

/// The value of which this is the mean over the last axis; empty if it is none.
std::string mean_of(Matcher& matcher, std::string const& value) {
  Node const* const mean = matcher.made_by(value, "ReduceMean");
  if (!mean || !matcher.is_last(*mean, "axes", input(*mean, 0))) return "";
  return input(*mean, 0);
}

/// The value of which this is the square; empty if it is none.
std::string square_of(Matcher& matcher, std::string const& value) {
  if (Node const* const power = matcher.made_by(value, "Pow"); power && matcher.is(input(*power, 1), 2))
    return input(*power, 0);
  Node const* const product = matcher.made_by(value, "Mul");
  return product && input(*product, 0) == input(*product, 1) ? input(*product, 0) : "";
}

/// x, if the value is sqrt(mean(x²) + epsilon).
std::string root_mean_square_of(Matcher& matcher, std::string const& value, float& epsilon) {
  Node const* const root = matcher.made_by(value, "Sqrt");
  Node const* const sum = root ? matcher.made_by(input(*root, 0), "Add") : nullptr;
  if (!sum) return "";
  for (std::string const& mean : sum->inputs) {
    epsilon = matcher.number(Matcher::other(*sum, mean));
    std::string const squares = std::isnan(epsilon) ? "" : mean_of(matcher, mean);
    if (!squares.empty()) return square_of(matcher, squares);
  }
  return "";
}

/// x, if the value is 1 + f(scale x).
std::string inside(Matcher& matcher, std::string const& value, std::string_view f) {
  Node const* const sum = matcher.made_by(value, "Add");
  if (!sum) return "";
  for (std::string const& part : sum->inputs) {
    Node const* const made = matcher.made_by(part, f);
    if (made && matcher.is(Matcher::other(*sum, part), 1)) return input(*made, 0);
  }
  return "";
}

/// Whether a value is scale x.
bool is_multiple(Matcher& matcher, std::string const& value, std::string const& x, double scale) {
  for (std::string_view const op : {"Mul", "Div"}) {
    Node const* const node = matcher.made_by(value, op);
    if (!node) continue;
    auto const product = matcher.factors(*node);
    return product.values == std::vector{x} && product.tensors.empty() &&
           std::abs(product.scale - scale) < 1e-3 * scale;
  }
  return false;
}

/// Whether a value is sqrt(2 / pi) (x + 0.044715 x³).
bool is_cubic(Matcher& matcher, std::string const& value, std::string const& x) {
  Node const* const node = matcher.made_by(value, "Mul");
  if (!node) return false;
  auto const product = matcher.factors(*node);
  if (product.values.size() != 1 || std::abs(product.scale - 0.7978845608) > 1e-3) return false;
  Node const* const sum = matcher.made_by(product.values[0], "Add");
  std::string const term = sum ? Matcher::other(*sum, x) : "";
  Node const* const cubic = matcher.made_by(term, "Mul");
  if (!cubic) return false;
  auto const cube = matcher.factors(*cubic);
  if (std::abs(cube.scale - 0.044715) > 1e-5) return false;
  if (cube.values == std::vector{x, x, x}) return true;
  Node const* const power = cube.values.size() == 1 ? matcher.made_by(cube.values[0], "Pow") : nullptr;
  return power && input(*power, 0) == x && matcher.is(input(*power, 1), 3);
}

}  // namespace

bool match_activation(Matcher& matcher, Node& node) {
  if (node.op == "Where" && node.inputs.size() == 3) {  // PyTorch's softplus, which is linear from a threshold on
    Node const* const large = matcher.made_by(node.inputs[0], "Greater");
    Node const* const soft = matcher.made_by(node.inputs[2], "Softplus");
    bool const fits = large && soft && input(*large, 0) == node.inputs[1] && input(*soft, 0) == node.inputs[1] &&
                      matcher.number(input(*large, 1)) >= 10;
    if (fits) Matcher::replace(node, "Softplus", {input(*soft, 0)});
    return fits;
  }
  if (node.op != "Mul") return false;
  auto const product = matcher.factors(node);
  if (product.values.size() != 2 || !product.tensors.empty()) return false;
  for (std::size_t const i : {0u, 1u}) {
    std::string const &x = product.values[i], &gate = product.values[1 - i];
    if (std::abs(product.scale - 0.5) < 1e-6) {
      std::string const error = inside(matcher, gate, "Erf"), bent = inside(matcher, gate, "Tanh");
      if (!error.empty() && is_multiple(matcher, error, x, 0.70710678))
        return Matcher::replace(node, "Gelu", {x}), true;
      if (!bent.empty() && is_cubic(matcher, bent, x))
        return Matcher::replace(node, "Gelu", {x}, {{"approximate", std::string{"tanh"}}}), true;
    }
    if (product.scale != 1) continue;
    Node const* const sigmoid = matcher.made_by(gate, "Sigmoid");
    if (sigmoid && input(*sigmoid, 0) == x) return Matcher::replace(node, "Swish", {x}), true;
  }
  return false;
}

/// The value that is normalised, if `node` is a product of it with a constant and 1 / sqrt(mean(x²) + epsilon).
std::string normalized(Matcher& matcher, Node const& node, std::string& weight, float& epsilon) {
  for (std::string const& normal : node.inputs) {
    weight = Matcher::other(node, normal);
    if (!matcher.constant(weight)) continue;
    if (Node const* const quotient = matcher.made_by(normal, "Div")) {
      std::string const x = root_mean_square_of(matcher, input(*quotient, 1), epsilon);
      if (!x.empty() && x == input(*quotient, 0)) return x;
    }
    Node const* const product = matcher.made_by(normal, "Mul");
    for (std::size_t i = 0; product && i < product->inputs.size(); ++i) {
      Node const* const inverse = matcher.made_by(product->inputs[i], "Reciprocal");
      std::string const x = inverse ? root_mean_square_of(matcher, input(*inverse, 0), epsilon) : "";
      if (!x.empty() && x == Matcher::other(*product, product->inputs[i])) return x;
    }
  }
  return "";
}

bool match_normalization(Matcher& matcher, Node& node) {
  if (node.inputs.size() != 2) return false;
  if (node.op == "Add") {  // a bias
    for (std::string const& normal : node.inputs) {
      std::string const bias = Matcher::other(node, normal);
      Node const* const made = matcher.made_by(normal, "LayerNormalization");
      Constant const b = matcher.constant(bias), scale = made ? matcher.constant(input(*made, 1)) : nullptr;
      if (!b || !scale || made->inputs.size() != 2 || b->size() != scale->size()) continue;
      return Matcher::replace(node, "LayerNormalization", {input(*made, 0), input(*made, 1), bias}, made->attributes),
             true;
    }
    return false;
  }
  std::string weight;
  float epsilon = 0;
  std::string const x = node.op == "Mul" ? normalized(matcher, node, weight, epsilon) : "";
  auto const axes = x.empty() ? std::vector<Axis>{} : matcher.axes(x);  // an input of the model may have no name
  if (axes.empty() || matcher.constant(weight)->size() != axes.back().extent()) return false;
  Node const* const centred = matcher.made_by(x, "Sub", false);
  bool const centres =
      centred && centred->inputs.size() == 2 && mean_of(matcher, input(*centred, 1)) == input(*centred, 0);
  Matcher::replace(node, centres ? "LayerNormalization" : "RMSNormalization",
                   {centres ? input(*centred, 0) : x, weight}, {{"epsilon", epsilon}});
  return true;
}

namespace {

/// Whether the values of a constant are 0, 1, 2, ...
bool counts_up(Tensor const& tensor) {
  for (std::size_t i = 0; i < tensor.ints.size(); ++i) {
    if (tensor.ints[i] != Int{static_cast<Index>(i)}) return false;
  }
  return !tensor.ints.empty();
}
/// The numbers that are `stride` further for each sample: a sum of constants and of range(0, samples, 1) * stride.
/// Returns the constant that is not 0.
Constant numbers_of_a_sample(Matcher& matcher, std::string value, Index& stride) {
  Constant numbers;
  int rank = 0;
  constexpr int most = 16;  // axes, and more than a value can have
  for (int steps = 0; steps < most; ++steps) {
    Node const* const sum = matcher.made_by(value, "Add");
    if (!sum || sum->inputs.size() != 2) break;
    int const second = matcher.constant(sum->inputs[1]) ? 1 : 0;
    Constant const term = matcher.constant(sum->inputs[static_cast<std::size_t>(second)]);
    if (!term || term->floating()) return nullptr;
    value = sum->inputs[static_cast<std::size_t>(1 - second)];
    rank = std::max(rank, term->rank());
    if (matcher.number(sum->inputs[static_cast<std::size_t>(second)]) == 0) continue;
    if (numbers) return nullptr;
    numbers = term;
  }
  if (!numbers || numbers->rank() == 0 || rank > numbers->rank()) return nullptr;
  Node const* const column = matcher.made_by(value, "Unsqueeze");
  Node const* const product = column ? matcher.made_by(input(*column, 0), "Mul") : nullptr;
  Node const* const range = product ? matcher.made_by(input(*product, 0), "Range") : nullptr;
  Constant const samples = range ? matcher.constant(input(*range, 1)) : nullptr;
  std::vector<Index> others(static_cast<std::size_t>(numbers->rank() - 1));  // the axes behind that of the samples
  std::iota(others.begin(), others.end(), 1);
  bool const all = samples && matcher.integers(*column, "axes", 1) == others && samples->ints.size() == 1 &&
                   samples->ints[0] == Int{1, true} && matcher.number(input(*range, 0)) == 0 &&
                   matcher.number(input(*range, 2)) == 1;
  auto const by = all ? matcher.integers(*product, "", 1) : std::vector<Index>{};
  stride = by.size() == 1 ? by[0] : 0;
  return numbers;
}

}  // namespace

bool match_strided(Matcher& matcher, Node& node) {
  if (node.op != "Gather" || node.inputs.size() != 2) return false;
  Node const* const flat = matcher.made_by(node.inputs[0], "Reshape");
  if (!flat || matcher.integers(*flat, "shape", 1) != std::vector<Index>{-1}) return false;
  auto const axes = matcher.axes(input(*flat, 0));
  if (axes.empty() || !axes[0].hidden()) return false;
  Index values = 1;
  for (Axis const& axis : axes) values *= axis.extent();
  Index stride = values;
  Constant numbers = matcher.constant(node.inputs[1]);
  if (numbers && matcher.samples() != 1) return false;  // they are those of one sample
  if (!numbers) numbers = numbers_of_a_sample(matcher, node.inputs[1], stride);
  if (!numbers || stride != values || numbers->size() != values || !counts_up(*numbers)) return false;
  auto shape = numbers->shape;
  if (shape.empty() || shape[0] != 1) return false;
  shape[0] = -1;
  Matcher::replace(node, "Reshape", {input(*flat, 0)}, {{"shape", shape}});
  return true;
}

}  // namespace coldpress::convert::onnx
