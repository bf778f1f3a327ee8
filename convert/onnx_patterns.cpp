#include "onnx_patterns.hpp"

#include "onnx_matcher.hpp"

#include <algorithm>

namespace coldpress::convert::onnx {
namespace {

/// Whether an axis of a reduction or a softmax is the last one.
bool is_last(Matcher const& matcher, Node const& node, std::string_view attribute, std::string const& value) {
  auto const axes = matcher.integers(node, attribute, 1);
  auto const rank = static_cast<Index>(matcher.axes(value).size());
  return axes.size() == 1 && (axes[0] == -1 || (rank > 0 && axes[0] == rank - 1));
}

/// The value of which this is the mean over the last axis; empty if it is none.
std::string mean_of(Matcher& matcher, std::string const& value) {
  Node const* const mean = matcher.made_by(value, "ReduceMean");
  if (!mean || !is_last(matcher, *mean, "axes", mean->inputs.at(0))) return "";
  return mean->inputs[0];
}

/// The value of which this is the square; empty if it is none.
std::string square_of(Matcher& matcher, std::string const& value) {
  if (Node const* const power = matcher.made_by(value, "Pow"); power && matcher.is(power->inputs.at(1), 2))
    return power->inputs[0];
  Node const* const product = matcher.made_by(value, "Mul");
  return product && product->inputs.at(0) == product->inputs.at(1) ? product->inputs[0] : "";
}

/// x, if the value is sqrt(mean(x²) + epsilon).
std::string root_mean_square_of(Matcher& matcher, std::string const& value, float& epsilon) {
  Node const* const root = matcher.made_by(value, "Sqrt");
  Node const* const sum = root ? matcher.made_by(root->inputs.at(0), "Add") : nullptr;
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
    if (made && matcher.is(Matcher::other(*sum, part), 1)) return made->inputs.at(0);
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
  return power && power->inputs.at(0) == x && matcher.is(power->inputs.at(1), 3);
}

}  // namespace

bool match_activation(Matcher& matcher, Node& node) {
  if (node.op == "Where" && node.inputs.size() == 3) {  // PyTorch's softplus, which is linear from a threshold on
    Node const* const large = matcher.made_by(node.inputs[0], "Greater");
    Node const* const soft = matcher.made_by(node.inputs[2], "Softplus");
    bool const fits = large && soft && large->inputs.at(0) == node.inputs[1] && soft->inputs.at(0) == node.inputs[1] &&
                      matcher.number(large->inputs.at(1)) >= 10;
    if (fits) Matcher::replace(node, "Softplus", {soft->inputs[0]});
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
    if (sigmoid && sigmoid->inputs.at(0) == x) return Matcher::replace(node, "Swish", {x}), true;
  }
  return false;
}

/// The value that is normalised, if `node` is a product of it with a constant and 1 / sqrt(mean(x²) + epsilon).
std::string normalized(Matcher& matcher, Node const& node, std::string& weight, float& epsilon) {
  for (std::string const& normal : node.inputs) {
    weight = Matcher::other(node, normal);
    if (!matcher.constant(weight)) continue;
    if (Node const* const quotient = matcher.made_by(normal, "Div")) {
      std::string const x = root_mean_square_of(matcher, quotient->inputs.at(1), epsilon);
      if (!x.empty() && x == quotient->inputs[0]) return x;
    }
    Node const* const product = matcher.made_by(normal, "Mul");
    for (std::size_t i = 0; product && i < product->inputs.size(); ++i) {
      Node const* const inverse = matcher.made_by(product->inputs[i], "Reciprocal");
      std::string const x = inverse ? root_mean_square_of(matcher, inverse->inputs.at(0), epsilon) : "";
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
      Node const* const made = matcher.constant(bias) ? matcher.made_by(normal, "LayerNormalization") : nullptr;
      if (!made || made->inputs.size() != 2 ||
          matcher.constant(bias)->size() != matcher.constant(made->inputs[1])->size())
        continue;
      return Matcher::replace(node, "LayerNormalization", {made->inputs[0], made->inputs[1], bias}, made->attributes),
             true;
    }
    return false;
  }
  std::string weight;
  float epsilon = 0;
  std::string const x = node.op == "Mul" ? normalized(matcher, node, weight, epsilon) : "";
  auto const axes = matcher.axes(x);
  if (axes.empty() || matcher.constant(weight)->size() != axes.back().extent()) return false;
  Node const* const centred = matcher.made_by(x, "Sub", false);
  bool const centres =
      centred && centred->inputs.size() == 2 && mean_of(matcher, centred->inputs[1]) == centred->inputs[0];
  Matcher::replace(node, centres ? "LayerNormalization" : "RMSNormalization",
                   {centres ? centred->inputs[0] : x, weight}, {{"epsilon", epsilon}});
  return true;
}

bool match_attention(Matcher& matcher, Node& node, std::vector<Node>& added) {
  Node const* const softmax = node.op == "MatMul" ? matcher.made_by(node.inputs.at(0), "Softmax") : nullptr;
  auto const apart = [&](std::string const& value) {  // [samples, heads, steps, size]
    auto const axes = matcher.axes(value);
    return axes.size() == 4 && axes[0].extent() == 1 && !axes[1].samples && !axes[2].samples && !axes[3].samples;
  };
  if (!softmax || !apart(node.inputs.at(1)) || !apart(softmax->inputs.at(0)) ||
      !is_last(matcher, *softmax, "axis", softmax->inputs[0]))
    return false;
  std::string scores = softmax->inputs[0], mask;
  double scale = 1;
  for (int step = 0; step < 4; ++step) {  // masks and scales
    if (Node const* const sum = mask.empty() && scale == 1 ? matcher.made_by(scores, "Add") : nullptr) {
      bool const first = matcher.made_by(sum->inputs.at(0), "MatMul") || matcher.made_by(sum->inputs[0], "Mul") ||
                         matcher.made_by(sum->inputs[0], "Div");
      scores = sum->inputs[first ? 0 : 1], mask = sum->inputs[first ? 1 : 0];
    } else if (Node const* const product = matcher.made_by(scores, "Mul");
               product && !std::isnan(matcher.number(product->inputs.at(1)))) {
      scale *= static_cast<double>(matcher.number(product->inputs[1])), scores = product->inputs[0];
    } else if (Node const* const quotient = matcher.made_by(scores, "Div");
               quotient && !std::isnan(matcher.number(quotient->inputs.at(1)))) {
      scale /= static_cast<double>(matcher.number(quotient->inputs[1])), scores = quotient->inputs[0];
    }
  }
  Node const* const product = matcher.made_by(scores, "MatMul");
  if (!product) return false;
  std::string sides[2] = {product->inputs.at(0), product->inputs.at(1)};
  for (std::string& side : sides) {
    for (std::string_view const op : {"Mul", "Div"}) {
      Node const* const scaled = matcher.made_by(side, op);
      float const by = scaled ? matcher.number(scaled->inputs.at(1)) : std::nanf("");
      if (!std::isnan(by))
        scale *= op == "Mul" ? static_cast<double>(by) : 1 / static_cast<double>(by), side = scaled->inputs[0];
    }
  }
  if (!apart(sides[0]) || !apart(sides[1]) || scale == 0 || !std::isfinite(scale)) return false;
  if (matcher.axes(sides[0])[1] != matcher.axes(sides[1])[1] ||
      matcher.axes(sides[0])[1] != matcher.axes(node.inputs[1])[1])
    return false;
  if (!mask.empty() && !matcher.constant(mask) && matcher.axes(mask).size() != 4) return false;
  std::string const keys = node.outputs.at(0) + ".keys";
  Node turned{.name = node.name, .op = "Transpose", .domain = {}, .inputs = {sides[1]}, .outputs = {keys}};
  turned.attributes.emplace("perm", std::vector<Index>{0, 1, 3, 2});
  added.push_back(std::move(turned));
  std::vector<std::string> inputs{sides[0], keys, node.inputs[1]};
  if (!mask.empty()) inputs.push_back(mask);
  Matcher::replace(node, "Attention", std::move(inputs), {{"scale", static_cast<float>(scale)}});
  return true;
}

bool match_bias(Matcher& matcher, Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return false;
  for (std::string const& product : node.inputs) {
    std::string const bias = Matcher::other(node, product);
    Constant const b = matcher.constant(bias);
    Node const* const made = b ? matcher.made_by(product, "MatMul") : nullptr;
    Constant const w = made && made->inputs.size() == 2 ? matcher.constant(made->inputs[1]) : nullptr;
    bool const fits = w && w->rank() == 2 && w->floating() && b->floating() && b->samples_axis < 0 &&
                      !b->shape.empty() && b->size() == w->shape[1] && b->shape.back() == w->shape[1] &&
                      b->rank() <= static_cast<int>(matcher.axes(product).size());
    if (!fits) continue;
    node.name = made->name;
    Matcher::replace(node, "MatMul", {made->inputs[0], made->inputs[1], bias});
    return true;
  }
  return false;
}

bool rewrite(Graph& graph, Known const& known) {
  bool changed = false;
  Matcher matcher{graph, known};
  std::vector<Node> added;
  // Those that a part of another pattern would match come after it.
  for (Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    changed |= match_activation(matcher, node) || match_normalization(matcher, node) ||
               match_attention(matcher, node, added) || match_bias(matcher, node) || match_padding(matcher, node);
  }
  // What is constant needs no nodes. A node may have other outputs that are not.
  std::erase_if(graph.nodes, [&](Node const& node) {
    return std::ranges::all_of(node.outputs,
                               [&](auto const& output) { return output.empty() || known.constants.contains(output); });
  });
  for (Node& node : graph.nodes) {
    for (std::string& output : node.outputs)
      if (known.constants.contains(output)) output.clear();
  }
  graph.constants = known.constants;
  graph.nodes.insert(graph.nodes.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  sort(graph);
  return changed;
}

}  // namespace coldpress::convert::onnx
