// Goes through a graph for all patterns, and recognises attention and the bias of a product.
#include "onnx_patterns.hpp"

#include "onnx_matcher.hpp"
#include "onnx_operators.hpp"

#include <algorithm>

namespace coldpress::convert::onnx {
namespace {

/// Whether a mask can be added to scores [samples, heads, queries, keys] in one layer.
bool fits(std::vector<Axis> const& mask, std::vector<Axis> const& scores) {
  std::size_t const rank = mask.size();
  if (rank < 2 || rank > 4 || mask.back() != scores[3] || (rank == 4 && mask[0].extent() != 1)) return false;
  for (std::size_t from_end = 2; from_end <= std::min<std::size_t>(rank, 3); ++from_end) {
    Axis const& axis = mask[rank - from_end];
    if (axis.samples || (axis.extent() != 1 && axis != scores[4 - from_end])) return false;
  }
  return true;
}

/// How weights of attention are hidden behind as many keys as each sample has:
/// softmax(where(seen, scores, lowest)) * cast(seen), where seen is less(places, floor(numbers)).
struct Hiding {
  std::string weights;                               // what the softmax computes
  std::string seen = {}, places = {}, numbers = {};  // empty: nothing is hidden

  /// The scores of all keys, if these are those of the keys that are seen. Empty if they are not.
  std::string scores_of(Matcher& matcher, std::string const& hidden) const {
    if (seen.empty()) return hidden;
    Node const* const where = matcher.made_by(hidden, "Where");
    bool const fits = where && input(*where, 0) == seen && matcher.number(input(*where, 2)) <= -1e30f;
    return fits ? input(*where, 1) : "";
  }
  /// Whether the places are those of `keys` keys.
  bool counts(Matcher const& matcher, Index keys) const {
    if (seen.empty()) return true;
    Constant const all = matcher.constant(places);
    if (!all || !all->floating() || all->size() != keys || all->shape.empty() || all->shape.back() != keys)
      return false;
    for (Index k = 0; k < keys; ++k) {
      if (all->floats[static_cast<std::size_t>(k)] != static_cast<float>(k)) return false;
    }
    return true;
  }
};
Hiding hiding_of(Matcher& matcher, std::string const& weights) {
  Node const* const product = matcher.made_by(weights, "Mul");
  for (std::string const& side : product ? product->inputs : std::vector<std::string>{}) {
    Node const* const cast = matcher.made_by(side, "Cast");
    Node const* const less = cast ? matcher.made_by(input(*cast, 0), "Less", false) : nullptr;
    Node const* const whole = less ? matcher.made_by(input(*less, 1), "Floor") : nullptr;
    if (whole) return {Matcher::other(*product, side), input(*cast, 0), input(*less, 0), input(*whole, 0)};
  }
  return {weights};
}

}  // namespace

bool match_attention(Matcher& matcher, Node& node, std::vector<Node>& added) {
  if (node.op != "MatMul" || node.inputs.size() != 2 || node.outputs.empty()) return false;
  Hiding const hiding = hiding_of(matcher, node.inputs[0]);
  Node const* const softmax = matcher.made_by(hiding.weights, "Softmax");
  auto const apart = [&](std::string const& value) {  // [samples, heads, steps, size]
    auto const axes = matcher.axes(value);
    return axes.size() == 4 && axes[0].extent() == 1 && !axes[1].samples && !axes[2].samples && !axes[3].samples;
  };
  std::string const hidden = softmax ? input(*softmax, 0) : "", all = hiding.scores_of(matcher, hidden);
  if (!softmax || !apart(input(node, 1)) || !apart(all) || !matcher.is_last(*softmax, "axis", hidden) ||
      !hiding.counts(matcher, matcher.axes(all)[3].extent()))
    return false;
  std::string scores = all, mask;
  double scale = 1;
  for (int step = 0; step < 4; ++step) {  // masks and scales
    if (Node const* const sum = mask.empty() && scale == 1 ? matcher.made_by(scores, "Add") : nullptr;
        sum && sum->inputs.size() == 2) {
      bool const first = matcher.made_by(input(*sum, 0), "MatMul") || matcher.made_by(input(*sum, 0), "Mul") ||
                         matcher.made_by(input(*sum, 0), "Div");
      scores = sum->inputs[first ? 0 : 1], mask = sum->inputs[first ? 1 : 0];
    } else if (Node const* const product = matcher.made_by(scores, "Mul");
               product && !std::isnan(matcher.number(input(*product, 1)))) {
      scale *= static_cast<double>(matcher.number(input(*product, 1))), scores = input(*product, 0);
    } else if (Node const* const quotient = matcher.made_by(scores, "Div");
               quotient && !std::isnan(matcher.number(input(*quotient, 1)))) {
      scale /= static_cast<double>(matcher.number(input(*quotient, 1))), scores = input(*quotient, 0);
    }
  }
  Node const* const product = matcher.made_by(scores, "MatMul");
  if (!product) return false;
  std::string sides[2] = {input(*product, 0), input(*product, 1)};
  for (std::string& side : sides) {
    for (std::string_view const op : {"Mul", "Div"}) {
      Node const* const scaled = matcher.made_by(side, op);
      float const by = scaled ? matcher.number(input(*scaled, 1)) : std::nanf("");
      if (!std::isnan(by))
        scale *= op == "Mul" ? static_cast<double>(by) : 1 / static_cast<double>(by), side = input(*scaled, 0);
    }
  }
  if (!apart(sides[0]) || !apart(sides[1]) || scale == 0 || !std::isfinite(scale)) return false;
  if (matcher.axes(sides[0])[1] != matcher.axes(sides[1])[1] ||
      matcher.axes(sides[0])[1] != matcher.axes(node.inputs[1])[1])
    return false;
  Constant const constant = matcher.constant(mask);
  if (!mask.empty() && !fits(constant ? axes_of(*constant) : matcher.axes(mask), matcher.axes(all))) return false;
  std::string const keys = node.outputs[0] + ".keys";
  Node turned{.name = node.name, .op = "Transpose", .domain = {}, .inputs = {sides[1]}, .outputs = {keys}};
  turned.attributes.emplace("perm", std::vector<Index>{0, 1, 3, 2});
  added.push_back(std::move(turned));
  std::vector<std::string> inputs{sides[0], keys, node.inputs[1]};
  if (!mask.empty() || !hiding.numbers.empty()) inputs.push_back(mask);
  if (!hiding.numbers.empty()) inputs.insert(inputs.end(), {"", "", hiding.numbers});
  Matcher::replace(node, "Attention", std::move(inputs), {{"scale", static_cast<float>(scale)}});
  return true;
}

bool match_bias(Matcher& matcher, Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return false;
  for (std::string const& product : node.inputs) {
    std::string const bias = Matcher::other(node, product);
    Constant const b = matcher.constant(bias);
    Node const* const made = b ? matcher.made_by(product, "MatMul") : nullptr;
    Constant const w = made && made->inputs.size() == 2 ? matcher.constant(input(*made, 1)) : nullptr;
    bool const fits = w && w->rank() == 2 && w->floating() && b->floating() && b->samples_axis < 0 &&
                      !b->shape.empty() && b->size() == w->shape[1] && b->shape.back() == w->shape[1] &&
                      b->rank() <= static_cast<int>(matcher.axes(product).size());
    if (!fits) continue;
    node.name = made->name;
    Matcher::replace(node, "MatMul", {input(*made, 0), input(*made, 1), bias});
    return true;
  }
  return false;
}

bool rewrite(Graph& graph, Known const& known) {
  bool changed = false;
  Matcher matcher{graph, known};
  std::vector<Node> added;
  // A pattern that a part of another one would match, too, comes after the other.
  for (Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    changed |= match_activation(matcher, node) || match_normalization(matcher, node) ||
               match_attention(matcher, node, added) || match_bias(matcher, node) || match_padding(matcher, node) ||
               match_sequence(matcher, node) || match_strided(matcher, node);
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
