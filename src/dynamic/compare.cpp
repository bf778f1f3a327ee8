// Finds out whether two configs describe the same function, and which of their weights correspond.
#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include "graph.hpp"

#include <algorithm>

namespace coldpress::dynamic {
namespace {

/// Lists the layers of a config in order, with containers replaced by their layers.
void flatten(LayerConfig const& config, std::vector<LayerConfig const*>& layers) {
  if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
    for (LayerConfig const& child : container->layers) flatten(child, layers);
  } else {
    layers.push_back(&config);
  }
}

/// For each named weight of layer i, the first layer and weight with that name.
std::vector<std::pair<std::size_t, std::size_t>> shares_with(std::vector<LayerConfig const*> const& layers,
                                                             std::size_t i) {
  std::vector<std::pair<std::size_t, std::size_t>> shared;
  for (std::size_t k = 0; k < layers[i]->params.size(); ++k) {
    std::string const& name = layers[i]->params[k].name;
    bool found = name.empty();
    for (std::size_t j = 0; j < i && !found; ++j) {
      for (std::size_t m = 0; m < layers[j]->params.size() && !found; ++m) {
        found = layers[j]->params[m].name == name;
        if (found) shared.emplace_back(j, m);
      }
    }
  }
  return shared;
}

std::string text_of(Index value) { return std::to_string(value); }
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }
std::string text_of(float value) { return std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
template <class Value>
std::string text_of(Value const& value) {
  return to_string(value);
}

/// A custom layer in the form in which it is compared: if its type is known, with all its fields except Weights.
Custom computed(CustomNode const& custom) { return custom.layer->custom(false); }
Custom computed(Custom const& custom) {
  return find_type(custom.type) ? computed(CustomNode{custom_layer_of(custom).get()}) : custom;
}

/// The first field in which two layers differ, as the rest of a sentence that begins with the layer; empty if there is
/// none. The layers are those of configs or of graphs.
template <class Type>
std::string layer_difference(Type const& x, Type const& y) {
  auto const type = [](auto const& layer) {
    if constexpr (requires { computed(layer); }) {
      return computed(layer).type;
    } else {
      return std::string{layer.name};
    }
  };
  std::string const name = std::visit(type, x), other_name = std::visit(type, y);
  if (name != other_name) return " is " + name + ", not " + other_name;
  std::string found;
  std::visit(
      [&](auto const& left) {
        using L = std::remove_cvref_t<decltype(left)>;
        if constexpr (requires { computed(left); }) {
          if (!(computed(left) == computed(std::get<L>(y)))) found = " has other fields";
        } else if constexpr (std::is_same_v<L, SequentialConfig>) {
          if (!(left == std::get<L>(y))) found = " has other fields";
        } else {
          for_each_field(left, std::get<L>(y), [&](std::string_view field, auto const& value, auto const& other) {
            if constexpr (!std::is_same_v<decltype(value), Weight const&>) {
              if (!(value == other) && found.empty())
                found = " has " + std::string{field} + " " + text_of(value) + ", not " + text_of(other);
            }
          });
        }
      },
      x);
  return found;
}

/// The first difference between two lists of layers, each of which reads the output of the layer before.
std::string list_difference(LayerConfig const& a, LayerConfig const& b) {
  std::vector<LayerConfig const*> as, bs;
  flatten(a, as), flatten(b, bs);
  auto const where = [&](std::size_t i) { return "layer " + std::to_string(i + 1) + " ('" + as[i]->name + "')"; };
  std::size_t const common = std::min(as.size(), bs.size());
  for (std::size_t i = 0; i < common; ++i) {
    auto const found = layer_difference(as[i]->layer_type, bs[i]->layer_type);
    if (!found.empty()) return where(i) + found;
  }
  for (std::size_t i = 0; i < common; ++i) {
    if (shares_with(as, i) != shares_with(bs, i)) return where(i) + " shares weights with another layer";
  }
  if (as.size() != bs.size())
    return "there are " + std::to_string(as.size()) + " layers, not " + std::to_string(bs.size());
  return {};
}

/// Compares two graphs by walking from their outputs to their inputs, so the order of the layers does not matter.
class Matching {
 public:
  Matching(Graph const& a, Graph const& b) : a_(a), b_(b), of_(b.nodes.size(), -1) {}

  std::string difference() {
    if (a_.inputs() != b_.inputs())
      return "it has " + counted(a_.inputs(), "input") + ", not " + counted(b_.inputs(), "input");
    if (a_.outputs.size() != b_.outputs.size())
      return "it has " + counted(a_.outputs.size(), "output") + ", not " + counted(b_.outputs.size(), "output");
    for (int k = 0; k < b_.inputs(); ++k) of_[static_cast<std::size_t>(k)] = k;
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
      auto const found = match(a_.outputs[k], b_.outputs[k]);
      if (!found.empty()) return found;
    }
    auto const ours = losses(a_), theirs = losses(b_);
    if (ours.size() != theirs.size())
      return "it has " + counted(ours.size(), "loss") + ", not " + counted(theirs.size(), "loss");
    std::vector<bool> taken(ours.size());
    for (int loss : theirs) {
      std::string first;
      bool found = false;
      for (std::size_t k = 0; k < ours.size() && !found; ++k) {
        if (taken[k]) continue;
        auto const before = of_;
        auto const why = match(ours[k], loss);
        found = taken[k] = why.empty();
        if (!found) of_ = before;
        if (first.empty()) first = why;
      }
      if (!found) return first;
    }
    return sharing();
  }
  /// For each weight of b, the number of the same weight of a.
  std::vector<std::size_t> weights() const {
    auto const ours = a_.owners(), theirs = b_.owners();
    std::vector<std::size_t> all;
    for (int parameter : theirs) {
      auto const at = std::find(ours.begin(), ours.end(), a_.owner[static_cast<std::size_t>(same(parameter))]);
      all.push_back(static_cast<std::size_t>(at - ours.begin()));
    }
    return all;
  }

 private:
  static std::vector<int> losses(Graph const& graph) {
    std::vector<int> all;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].kind == Node::Kind::loss) all.push_back(static_cast<int>(i));
    }
    return all;
  }
  std::string match(int a, int b) {
    auto const i = static_cast<std::size_t>(a), k = static_cast<std::size_t>(b);
    Node const &x = a_.nodes[i], &y = b_.nodes[k];
    auto const where = [&] { return "layer '" + a_.names[i] + "'"; };
    if (of_[k] == a) return {};
    if (of_[k] >= 0 || x.kind == Node::Kind::input || y.kind == Node::Kind::input)
      return where() + " is not what is read where '" + b_.names[k] + "' is wanted";
    if (x.input_count() != y.input_count())
      return where() + " reads " + counted(x.input_count(), "value") + ", not " + std::to_string(y.input_count());
    for (int n = 0; n < x.input_count(); ++n) {
      auto found = match(x.inputs[n], y.inputs[n]);
      if (!found.empty()) return found;
    }
    auto const found = layer_difference(a_.layers[i], b_.layers[k]);
    if (!found.empty()) return where() + found;
    of_[k] = a;
    return {};
  }
  /// The parameter of a that corresponds to parameter p of b.
  int same(int p) const {
    auto const at = static_cast<std::size_t>(p);
    auto const node = static_cast<std::size_t>(b_.parameter_node[at]);
    return a_.first_parameter[static_cast<std::size_t>(of_[node])] + p - b_.first_parameter[node];
  }
  std::string sharing() const {
    for (int p = 0; p < static_cast<int>(b_.parameters.size()); ++p) {
      for (int q = 0; q < p; ++q) {
        auto const owner = [](Graph const& graph, int n) { return graph.owner[static_cast<std::size_t>(n)]; };
        if ((owner(b_, p) == owner(b_, q)) == (owner(a_, same(p)) == owner(a_, same(q)))) continue;
        auto const node = static_cast<std::size_t>(a_.parameter_node[static_cast<std::size_t>(same(p))]);
        return "layer '" + a_.names[node] + "' shares weights with another layer";
      }
    }
    return {};
  }

  Graph const &a_, &b_;
  std::vector<int> of_;  // for each node of b, the corresponding node of a
};

/// Whether a config is more than a list of layers.
bool branches(LayerConfig const& config) {
  if (config.inputs.size() > 1 || config.outputs.size() > 1) return true;
  auto const* container = std::get_if<SequentialConfig>(&config.layer_type);
  if (!container) {
    return std::visit(
        [](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          return Loss<L> || (ManyInputs<L> && !FollowsOne<L>) || Source<L>;
        },
        config.layer_type);
  }
  std::vector<std::string> read;
  for (LayerConfig const& layer : container->layers) read.insert(read.end(), layer.inputs.begin(), layer.inputs.end());
  std::sort(read.begin(), read.end());
  bool const twice = std::adjacent_find(read.begin(), read.end()) != read.end();
  return twice || container->inputs.size() > 1 ||
         std::any_of(container->layers.begin(), container->layers.end(), branches);
}

}  // namespace

std::string difference(LayerConfig const& a, LayerConfig const& b) {
  auto const input_a = declared_input(a), input_b = declared_input(b);
  if (input_a && input_b && *input_a != *input_b && !other_steps(a, *input_a, *input_b)) {
    return "the samples have shape " + to_string(*input_a) + ", not " + to_string(*input_b);
  }
  if (!branches(a) && !branches(b)) return list_difference(a, b);
  Graph const first{a, input_b}, second{b, input_a};
  return Matching{first, second}.difference();
}

std::vector<std::size_t> matching_weights(LayerConfig const& a, LayerConfig const& b) {
  Graph const second{b, declared_input(a)};
  if (!branches(a) && !branches(b)) {
    std::vector<std::size_t> all(second.owners().size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  Graph const first{a, declared_input(b)};
  Matching matching{first, second};
  auto const found = matching.difference();
  if (!found.empty()) throw MismatchError{found};
  return matching.weights();
}

bool same_network(LayerConfig const& a, LayerConfig const& b) { return difference(a, b).empty(); }

}  // namespace coldpress::dynamic
