#include <coldpress/dynamic/to_config.hpp>

#include "graph.hpp"

namespace coldpress::dynamic {
namespace {

/// The layers of a config in order, containers opened.
void flatten(LayerConfig const& config, std::vector<LayerConfig const*>& layers) {
  if (auto const* container = std::get_if<SequentialConfig>(&config.layer_type)) {
    for (LayerConfig const& child : container->layers) flatten(child, layers);
  } else {
    layers.push_back(&config);
  }
}

/// For each named weight of layer i, the first layer and weight of that name.
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
  if constexpr (Spelled<Value>) {
    return std::string{spellings(value)[static_cast<std::size_t>(value)]};
  } else {
    return to_string(value);
  }
}

}  // namespace

std::string difference(LayerConfig const& a, LayerConfig const& b) {
  auto const input_a = declared_input(a), input_b = declared_input(b);
  if (input_a && input_b && *input_a != *input_b && !other_steps(a, *input_a, *input_b)) {
    return "the samples have shape " + to_string(*input_a) + ", not " + to_string(*input_b);
  }
  std::vector<LayerConfig const*> as, bs;
  flatten(a, as), flatten(b, bs);
  for (std::size_t i = 0; i < std::min(as.size(), bs.size()); ++i) {
    LayerType const &x = as[i]->layer_type, &y = bs[i]->layer_type;
    std::string const where = "layer " + std::to_string(i + 1) + " ('" + as[i]->name + "')";
    if (type_name(x) != type_name(y)) return where + " is " + type_name(x) + ", not " + type_name(y);
    std::string found;
    std::visit(
        [&](auto const& left) {
          using L = std::remove_cvref_t<decltype(left)>;
          if constexpr (std::is_same_v<L, Custom> || std::is_same_v<L, SequentialConfig>) {
            if (!(left == std::get<L>(y))) found = where + " has other fields";
          } else {
            for_each_field(left, [&](std::string_view field, auto const& value) {
              using Value = std::remove_cvref_t<decltype(value)>;
              if constexpr (!std::is_same_v<Value, Weight>) {
                for_each_field(std::get<L>(y), [&](std::string_view other_field, auto const& other) {
                  if constexpr (std::is_same_v<Value, std::remove_cvref_t<decltype(other)>>) {
                    if (field == other_field && !(value == other) && found.empty()) {
                      found = where + " has " + std::string{field} + " " + text_of(value) + ", not " + text_of(other);
                    }
                  }
                });
              }
            });
          }
        },
        x);
    if (!found.empty()) return found;
  }
  for (std::size_t i = 0; i < std::min(as.size(), bs.size()); ++i) {
    if (shares_with(as, i) != shares_with(bs, i))
      return "layer " + std::to_string(i + 1) + " ('" + as[i]->name + "') shares weights with another layer";
  }
  if (as.size() != bs.size())
    return "there are " + std::to_string(as.size()) + " layers, not " + std::to_string(bs.size());
  return {};
}

bool declares_input(LayerConfig const& config) { return declared_input(config).has_value(); }

void declare_input(LayerConfig& config, Shape shape) {
  auto* container = std::get_if<SequentialConfig>(&config.layer_type);
  if (container && !declares_input(config)) container->add_input("data", shape);
}

std::vector<std::pair<std::string, Shape>> output_shapes(LayerConfig const& config, std::optional<Shape> input) {
  Graph const graph{config, input};
  std::vector<std::pair<std::string, Shape>> shapes;
  for (std::size_t i = 1; i < graph.names.size(); ++i) shapes.emplace_back(graph.names[i], graph.nodes[i].shape);
  return shapes;
}

std::vector<Executable::Weight> weights_of(LayerConfig const& config, std::optional<Shape> input) {
  return Graph{config, input}.weights();
}

bool same_network(LayerConfig const& a, LayerConfig const& b) { return difference(a, b).empty(); }

}  // namespace coldpress::dynamic
