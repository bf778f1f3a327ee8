// Looks for nodes of certain forms.
#pragma once

#include "onnx_patterns.hpp"

#include <cmath>

namespace coldpress::convert::onnx {

/// The name of an input; empty if there are not as many.
inline std::string input(Node const& node, std::size_t i) { return i < node.inputs.size() ? node.inputs[i] : ""; }

class Matcher {
 public:
  Matcher(Graph& graph, Known const& known) : graph_(graph), known_(known) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (std::string const& output : graph.nodes[n].outputs) makers_.insert_or_assign(output, n);
      for (std::string const& input : graph.nodes[n].inputs) ++readers_[input];
    }
    for (std::string const& output : graph.outputs) readers_[output] += 2;  // stays
  }

  Graph& graph() { return graph_; }
  /// The node that computes a value, if it is of this operator. With `alone`, only if nothing else reads the value.
  Node* made_by(std::string const& value, std::string_view op, bool alone = true) {
    auto const found = makers_.find(value);
    if (found == makers_.end() || constant(value)) return nullptr;
    Node& node = graph_.nodes[found->second];
    bool const fits = node.op == op && node.domain.empty() && (!alone || readers_[value] == 1);
    return fits ? &node : nullptr;
  }
  Constant constant(std::string const& value) const {
    auto const found = known_.constants.find(value);
    return found == known_.constants.end() ? nullptr : found->second;
  }
  /// The one number that a constant is; NaN otherwise.
  float number(std::string const& value) const {
    Constant const found = constant(value);
    if (!found || found->size() != 1) return std::nanf("");
    if (found->floating()) return found->floats[0];
    return found->ints[0].samples ? std::nanf("") : static_cast<float>(found->ints[0].factor);
  }
  /// Whether a value is this number, to within what rounding and shortened literals do.
  bool is(std::string const& value, double wanted) const {
    return std::abs(static_cast<double>(number(value)) - wanted) <= 1e-4 * std::abs(wanted);
  }
  /// The whole numbers of an attribute, or of an input that is a constant.
  std::vector<Index> integers(Node const& node, std::string_view attribute, std::size_t input) const {
    if (auto const found = node.attributes.find(attribute); found != node.attributes.end()) {
      if (auto const* const list = std::get_if<std::vector<Index>>(&found->second)) return *list;
      if (auto const* const one = std::get_if<Index>(&found->second)) return {*one};
    }
    std::vector<Index> all;
    Constant const given = input < node.inputs.size() ? constant(node.inputs[input]) : nullptr;
    for (std::size_t i = 0; given && i < given->ints.size(); ++i) all.push_back(given->ints[i].factor);
    return all;
  }
  Index samples() const { return known_.samples; }
  std::vector<Axis> axes(std::string const& value) const {
    auto const found = known_.axes.find(value);
    return found == known_.axes.end() ? std::vector<Axis>{} : found->second;
  }
  /// Whether an axis of a reduction or a softmax of this value is the last one.
  bool is_last(Node const& node, std::string_view attribute, std::string const& value) const {
    auto const axes_named = integers(node, attribute, 1);
    constexpr Index last_by_default = 13;  // the opset from which on a softmax is over the last axis
    if (axes_named.empty() && node.op == "Softmax") return graph_.opset >= last_by_default;
    auto const rank = static_cast<Index>(axes(value).size());
    return axes_named.size() == 1 && (axes_named[0] == -1 || (rank > 0 && axes_named[0] == rank - 1));
  }
  /// The input of a node with two that is not `value`; empty if none is.
  static std::string other(Node const& node, std::string const& value) {
    if (node.inputs.size() != 2) return "";
    return node.inputs[0] == value ? node.inputs[1] : node.inputs[1] == value ? node.inputs[0] : "";
  }

  /// The factors of a product: computed values, and the number that all constants make together. Values that nothing
  /// else reads are taken apart.
  struct Product {
    std::vector<std::string> values = {};
    double scale = 1;
    std::vector<std::string> tensors = {};  // constants that are not one number
  };
  Product factors(Node const& node) {
    Product product;
    std::vector<std::string> open{node.inputs};
    if (node.op == "Div" && node.inputs.size() == 2)
      open = {node.inputs[0]}, product.scale = 1 / static_cast<double>(number(node.inputs[1]));
    constexpr int most = 64;  // that are looked at
    for (int steps = 0; !open.empty() && product.values.size() < 8 && steps < most; ++steps) {
      std::string const value = open.back();
      open.pop_back();
      if (float const one = number(value); !std::isnan(one)) {
        product.scale *= static_cast<double>(one);
      } else if (constant(value)) {
        product.tensors.push_back(value);
      } else if (Node const* const inner = made_by(value, "Mul")) {
        open.insert(open.end(), inner->inputs.begin(), inner->inputs.end());
      } else if (Node const* const division = made_by(value, "Div");
                 division && !std::isnan(number(input(*division, 1)))) {
        product.scale /= static_cast<double>(number(division->inputs[1]));
        open.push_back(division->inputs[0]);
      } else {
        product.values.push_back(value);
      }
    }
    return product;
  }

  /// Makes a node another one, which computes the same output.
  static void replace(Node& node, std::string op, std::vector<std::string> inputs,
                      std::map<std::string, Attribute, std::less<>> attributes = {}) {
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
  }

 private:
  Graph& graph_;
  Known const& known_;
  std::map<std::string, std::size_t> makers_ = {};
  std::map<std::string, int> readers_ = {};
};

// Each of these replaces a node, if it is the last one of such a pattern.
bool match_activation(Matcher& matcher, Node& node);
bool match_normalization(Matcher& matcher, Node& node);
bool match_attention(Matcher& matcher, Node& node, std::vector<Node>& added);
bool match_bias(Matcher& matcher, Node& node);
bool match_padding(Matcher& matcher, Node& node);
bool match_sequence(Matcher& matcher, Node& node);
/// A Gather that selects all values in their order. PyTorch's newer exporter writes as_strided like this, which
/// averages of images with channels last contain.
bool match_strided(Matcher& matcher, Node& node);

}  // namespace coldpress::convert::onnx
