// Zeros around an input, and outputs that are cut off, which are the padding of a convolution.
#include "onnx_matcher.hpp"

#include <algorithm>
#include <numeric>

namespace coldpress::convert::onnx {
namespace {

constexpr Index most_padded = Index{1} << 30;  // places

bool has(Node const& node, std::size_t input) { return input < node.inputs.size() && !node.inputs[input].empty(); }
std::string text(Node const& node, std::string_view attribute, std::string const& otherwise) {
  auto const found = node.attributes.find(attribute);
  auto const* const value = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value ? *value : otherwise;
}

/// The paddings of a convolution over `axes` axes: before each, and after each. Nothing if they are given in another
/// way.
std::optional<std::vector<Index>> pads_of(Matcher const& matcher, Node const& node, std::size_t axes) {
  if (node.op != "Conv" || text(node, "auto_pad", "NOTSET") != "NOTSET") return {};
  auto pads = matcher.integers(node, "pads", node.inputs.size());
  if (pads.empty()) pads.assign(2 * axes, 0);
  auto const possible = [](Index places) { return places >= 0 && places <= most_padded; };
  return pads.size() == 2 * axes && std::ranges::all_of(pads, possible) ? std::optional{pads} : std::nullopt;
}

bool take_pad(Matcher& matcher, Node& node) {
  Node const* const pad = node.inputs.empty() ? nullptr : matcher.made_by(node.inputs[0], "Pad");
  auto const rank = matcher.axes(node.inputs.empty() ? "" : node.inputs[0]).size();
  if (!pad || rank < 3 || text(*pad, "mode", "constant") != "constant") return false;
  auto pads = pads_of(matcher, node, rank - 2);
  auto const added = matcher.integers(*pad, "pads", 1);
  auto axes = has(*pad, 3) ? matcher.integers(*pad, "axes", 3) : std::vector<Index>{};
  if (axes.empty()) axes.resize(rank), std::iota(axes.begin(), axes.end(), 0);
  bool const zeros = has(*pad, 2) ? matcher.number(pad->inputs[2]) == 0 : !pad->attributes.contains("value");
  if (!pads || !zeros || added.size() != 2 * axes.size()) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Index const axis = axes[i] < 0 ? axes[i] + static_cast<Index>(rank) : axes[i];
    Index const before = added[i], after = added[axes.size() + i];
    if (before == 0 && after == 0) continue;
    if (axis < 2 || axis >= static_cast<Index>(rank) || before < 0 || after < 0 ||
        std::max(before, after) > most_padded)
      return false;
    (*pads)[static_cast<std::size_t>(axis - 2)] += before;
    (*pads)[static_cast<std::size_t>(axis - 2) + rank - 2] += after;
  }
  node.inputs[0] = input(*pad, 0);
  node.attributes.insert_or_assign("pads", *pads);
  return true;
}

bool take_cut(Matcher& matcher, Node& node) {
  Node const* const conv = node.inputs.empty() ? nullptr : matcher.made_by(node.inputs[0], "Conv");
  auto const axes = matcher.axes(conv ? node.inputs[0] : "");
  if (axes.size() < 3) return false;
  auto const pads = pads_of(matcher, *conv, axes.size() - 2);
  auto const starts = matcher.integers(node, "starts", 1), ends = matcher.integers(node, "ends", 2),
             along = matcher.integers(node, "axes", 3), steps = matcher.integers(node, "steps", 4);
  if (!pads || starts != std::vector<Index>{0} || ends.size() != 1 ||
      std::abs(static_cast<double>(ends[0])) > most_padded || along.size() != 1 ||
      (!steps.empty() && steps != std::vector<Index>{1}))
    return false;
  auto const rank = static_cast<Index>(axes.size());
  Index const axis = along[0] < 0 ? along[0] + rank : along[0];
  if (axis < 2 || axis >= rank) return false;
  Index const extent = axes[static_cast<std::size_t>(axis)].extent();
  Index const less = ends[0] < 0 ? -ends[0] : extent - ends[0];
  auto const strides = matcher.integers(*conv, "strides", conv->inputs.size());
  Index const stride = strides.size() != axes.size() - 2 ? 1 : strides[static_cast<std::size_t>(axis - 2)];
  auto padding = *pads;
  Index& after = padding[static_cast<std::size_t>(axis + rank - 4)];
  if (less <= 0 || less >= extent || stride != 1 || after < less) return false;
  after -= less;
  auto attributes = conv->attributes;
  attributes.insert_or_assign("pads", padding);
  node.name = conv->name;
  Matcher::replace(node, "Conv", conv->inputs, std::move(attributes));
  return true;
}

}  // namespace

bool match_padding(Matcher& matcher, Node& node) {
  return node.op == "Conv" ? take_pad(matcher, node) : node.op == "Slice" && take_cut(matcher, node);
}

}  // namespace coldpress::convert::onnx
