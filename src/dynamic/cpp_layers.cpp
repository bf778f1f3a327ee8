// Puts the layers of a config in the order of C++ statements, and finds out which are shared, random or closed.
#include "cpp_layers.hpp"

#include "cpp_literals.hpp"
#include "needed.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/graph/recording.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace coldpress::dynamic {
namespace {

bool is_observer(Node const& node) { return node.kind == Node::Kind::loss || node.kind == Node::Kind::statistic; }
std::vector<Shape> shapes_of_inputs(Graph const& graph, Node const& node) {
  std::vector<Shape> shapes;
  for (int k = 0; k < node.input_count(); ++k)
    shapes.push_back(graph.nodes[static_cast<std::size_t>(node.inputs[k])].shape);
  return shapes;
}
/// Whether something besides the layer itself, `propagate_down` in a config, stops gradients before it.
bool is_closed(GraphLayer const& layer, Node const& node, std::vector<Shape> const& in) {
  View<int const> const inputs{node.inputs, in.size()};
  return std::visit([&](auto const& value) { return node_of(value, inputs, Shapes{in}).closed; }, layer) != node.closed;
}

}  // namespace

CppLayers::CppLayers(LayerConfig const& config, std::optional<Shape> input, bool training)
    : graph_(config, input),
      training_(training),
      readers_(graph_.nodes.size()),
      users_(graph_.nodes.size()),
      given_(graph_.nodes.size()) {
  find_layers();
  order_in_chains();
  if (training_) set_weights();
  refuse_what_cannot_be_written();
  name_layers();
}

void CppLayers::find_layers() {
  std::vector<bool> needed = training_ ? std::vector<bool>(graph_.nodes.size(), true) : needed_nodes(graph_);
  for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
    for (int k = 0; at(needed, node) && k < this->node(node).input_count(); ++k)
      ++at(readers_, this->node(node).inputs[k]);
  }
  for (int const output : graph_.outputs) ++at(readers_, output);
  bool const reads_input =
      std::find(needed.begin(), needed.begin() + graph_.inputs(), true) != needed.begin() + graph_.inputs();
  if (!reads_input) needed[0] = true;  // a network has one
  for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
    if (!at(needed, node)) continue;
    if (node < graph_.inputs()) {
      inputs_.push_back(node);
    } else {
      layers_.push_back(node);
      if (!is_tied(node)) ++at(users_, shares_with(node));
    }
  }
}

/// Puts a layer next to the one that it reads if it is the only reader, as in x | a | b. A layer with the weights of
/// another stays where it is, after that one.
void CppLayers::order_in_chains() {
  std::vector<int> next(graph_.nodes.size(), -1);
  std::vector<bool> follows(graph_.nodes.size());
  for (int const node : layers_) {
    int const before = this->node(node).inputs[0];
    if (!is_plain(node) || shares_with(node) != node || before < graph_.inputs() || readers(before) != 1) continue;
    at(next, before) = node, at(follows, node) = true;
  }
  std::vector<int> ordered;
  for (int const first : layers_) {
    if (at(follows, first)) continue;
    for (int node = first; node >= 0; node = at(next, node)) ordered.push_back(node);
  }
  layers_ = std::move(ordered);
}

std::string_view CppLayers::kind(int node) const {
  return std::visit([](auto const& layer) -> std::string_view { return layer.name; }, layer(node));
}
bool CppLayers::is_output(int node) const { return std::ranges::find(graph_.outputs, node) != graph_.outputs.end(); }
bool CppLayers::is_plain(int node) const {
  return std::visit([](auto const& layer) { return FollowsOne<std::remove_cvref_t<decltype(layer)>>; }, layer(node)) &&
         this->node(node).input_count() == 1;
}
bool CppLayers::is_random(int node) const {
  return std::visit(
      [](auto const& layer) {
        return requires { layer.seed; }
        || requires { layer.dropout_seed; };
      },
      layer(node));
}
int CppLayers::shares_with(int node) const {
  if (parameter_count(node) == 0) return node;
  return at(graph_.parameter_node, at(graph_.owner, at(graph_.first_parameter, node)));
}

/// How many parameters, from the first on, a node has of the layer shares_with(node); -1 for a sharing that types do
/// not have.
int CppLayers::shared_parameters(int node) const {
  int const first = at(graph_.first_parameter, node), count = parameter_count(node);
  int const other = shares_with(node), its = at(graph_.first_parameter, other);
  int shared = 0;
  bool in_order = true;
  for (int k = 0; k < count; ++k) {
    int const owner = at(graph_.owner, first + k);
    if (owner == first + k) continue;
    in_order = in_order && other != node && k == shared && owner == at(graph_.owner, its + k) &&
               k < parameter_count(other) &&
               at(graph_.parameters, its + k).suffix == at(graph_.parameters, first + k).suffix &&
               same_order(at(graph_.parameters, its + k), at(graph_.parameters, first + k));
    ++shared;
  }
  if (shared == 0) return 0;
  bool const tied = std::holds_alternative<TiedLinear>(layer(node)) && std::holds_alternative<Linear>(layer(other));
  return in_order && is_plain(node) && shared == (tied ? 1 : count) ? shared : -1;
}

bool CppLayers::keeps_name(int node) const {
  return parameter_count(node) > 0 || is_random(node) || is_observer(this->node(node)) ||
         (graph_.outputs.size() > 1 && is_output(node));
}
bool CppLayers::has_long_name(int node) const {
  return keeps_name(node) && name(node).size() > std::size_t{Name::most};
}

/// Layers that keep their name are given it, unless the type calls them so by itself: each layer without a name is
/// called after its type, with the next number that no given name has.
void CppLayers::name_layers() {
  auto const fits = [](std::string const& text) {
    return !text.empty() && text.size() <= std::size_t{Name::most} && text.find('\0') == std::string::npos;
  };
  std::set<std::string_view> kept;
  for (int const node : layers_) {
    if (keeps_name(node) && fits(name(node))) kept.insert(name(node));
  }
  std::map<std::string_view, int> numbers;  // by type
  for (int const node : layers_) {
    bool const keeps = kept.contains(name(node));
    int& number = numbers[kind(node)];
    int next = number;
    std::string usual;
    do {
      usual = std::string{kind(node)} + std::to_string(++next);
    } while (kept.contains(usual) && !(keeps && usual == name(node)));
    if (keeps && usual != name(node)) {
      at(given_, node) = name(node);
    } else {
      number = next;
    }
  }
}

/// Writes what a config says of the weights of its layers into the layers' own fields.
void CppLayers::set_weights() {
  for (int const node : layers_) {
    if (at(graph_.params, node).empty()) continue;
    auto const first = static_cast<std::size_t>(at(graph_.first_parameter, node));
    std::span<Parameter const> const wanted{graph_.parameters.data() + first,
                                            static_cast<std::size_t>(parameter_count(node))};
    if (!set_weight_fields(at(graph_.layers, node), shapes_of_inputs(graph_, this->node(node)), wanted))
      unsettled_.push_back(node);
  }
}

/// Why a layer cannot be part of a type; empty if it can.
std::string CppLayers::refusal(int node) const {
  if (std::holds_alternative<CustomNode>(layer(node)))
    return "a layer of the user's own cannot be written as C++: the config does not know its type";
  bool const in_part = shared_parameters(node) < 0;
  if (!is_plain(node) && (in_part || is_shared(node)))
    return "a layer with several inputs that shares its weights cannot be written as a type";
  if (in_part) return "it shares some of its weights, which cannot be written as a type";
  if (std::holds_alternative<RandomNormal>(layer(node)) && name(node).size() > std::size_t{Name::most}) {
    return "its name, on which its random numbers depend, has " + std::to_string(name(node).size()) +
           " characters; names in a type have at most " + std::to_string(Name::most);
  }
  if (!training_) return {};
  if (is_closed(layer(node), this->node(node), shapes_of_inputs(graph_, this->node(node))))
    return "its propagate_down, which stops gradients, cannot be written as a type";
  if (std::ranges::find(unsettled_, node) != unsettled_.end())
    return "its params say something of its weights for which the layer has no field";
  return {};
}

void CppLayers::refuse_what_cannot_be_written() const {
  if (std::size_t const nodes = inputs_.size() + layers_.size(); nodes > std::size_t{coldpress::detail::max_nodes}) {
    throw UnsupportedError{"the network has " + counted(nodes, "layer") + " and inputs; a type has at most " +
                           std::to_string(coldpress::detail::max_nodes)};
  }
  std::vector<std::pair<int, std::string>> refused;
  for (int const node : layers_) {
    if (std::string reason = refusal(node); !reason.empty()) refused.emplace_back(node, std::move(reason));
  }
  if (refused.empty()) return;
  if (refused.size() == 1) {
    UnsupportedError error{refused[0].second};
    error.in_layer(name(refused[0].first));
    throw error;
  }
  std::string text = counted(refused.size(), "layer") + " cannot be part of a type: ";
  for (std::size_t i = 0; i < refused.size(); ++i)
    text.append(i > 0 ? "; '" : "'").append(name(refused[i].first)).append("': ").append(refused[i].second);
  throw UnsupportedError{text};
}

}  // namespace coldpress::dynamic
