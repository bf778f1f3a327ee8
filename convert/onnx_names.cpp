// Takes the path of a module from the names of its weights or of its node.
#include "onnx_names.hpp"

#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace coldpress::convert::onnx {
namespace {

/// What PyTorch and Keras call the parameters of a module.
constexpr std::array<std::string_view, 12> parameters = {
    "weight",       "bias",         "running_mean", "running_var", "in_proj_weight", "in_proj_bias",
    "weight_ih_l0", "weight_hh_l0", "bias_ih_l0",   "bias_hh_l0",  "kernel",         "scale"};

std::string lower(std::string_view text) {
  std::string all{text};
  std::ranges::transform(all, all.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

std::string_view without_number(std::string_view text) {
  auto const end = text.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == text.size()) return text;
  return text[end] == '_' ? text.substr(0, end) : text;
}

/// The module of a parameter; empty if it does not have a name of that form.
std::string module_of(std::string const& origin) {
  auto const dot = origin.rfind('.');
  if (dot == std::string::npos || dot == 0) return "";
  return std::ranges::find(parameters, std::string_view{origin}.substr(dot + 1)) == parameters.end()
             ? ""
             : origin.substr(0, dot);
}

/// "/layer1/layer1.0/conv1/Conv" is layer1.0.conv1 if the node has weights, and layer1.0.conv1.conv otherwise.
std::string path_of(std::string_view name, bool weights) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    auto const end = std::min(name.find('/'), name.size());
    if (end > 0) parts.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  if (parts.empty()) return "";
  std::string const last = lower(parts.back());
  bool const repeats = parts.size() > 1 && without_number(last) == without_number(lower(parts[parts.size() - 2]));
  if (parts.size() > 1) parts.pop_back();
  std::string path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string const nested = std::string{parts[i]} + ".";
    if (i + 1 < parts.size() && parts[i + 1].starts_with(nested)) continue;
    path += (path.empty() ? "" : ".") + std::string{parts[i]};
  }
  bool const whole = lower(path) == last;
  return weights || repeats || whole ? path : path + "." + last;
}

}  // namespace

std::string valid_name(std::string const& name) {
  std::string valid;
  for (char const c : name) {
    auto const byte = static_cast<unsigned char>(c);
    valid += c == '/' || c == ':' ? '.' : byte <= ' ' || byte >= 127 ? '_' : c;
  }
  auto const begin = valid.find_first_not_of('.');
  return begin == std::string::npos ? "value" : valid.substr(begin);
}

std::string name_of(Node const& node, std::vector<Constant> const& constants, bool own) {
  if (own && !node.name.empty() && persist::printable(node.name) == node.name) {
    // What is behind a slash is an operator, if the layer has several.
    auto const slash = node.name.rfind('/');
    bool const part =
        slash != std::string::npos && without_number(std::string_view{node.name}.substr(slash + 1)) == node.op;
    return part ? node.name.substr(0, slash) + "." + lower(node.name.substr(slash + 1)) : node.name;
  }
  bool weights = false;
  for (Constant const& constant : constants) {
    weights = weights || (constant->floating() && !constant->shape.empty());
    if (std::string const module = module_of(constant->origin); !module.empty()) return valid_name(module);
  }
  std::string_view name = node.name;
  if (name.starts_with("node_")) name.remove_prefix(5);  // which PyTorch's newer exporter puts before each
  std::string const path = path_of(name, weights);
  return valid_name(path.empty() ? lower(node.op) : path);
}

}  // namespace coldpress::convert::onnx
