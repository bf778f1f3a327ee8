// Which layer of a network reads which, for what becomes one layer.
#pragma once

#include <coldpress/persist/model.hpp>
#include <dynamic/wiring.hpp>

#include "refusal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace coldpress::convert {

using dynamic::LayerConfig, dynamic::SequentialConfig;

/// The values of a network, by their names.
class FoldWiring {
 public:
  explicit FoldWiring(LayerConfig const& network) { survey(network); }

  /// The place in `list` of the layer whose output `after` reads, if nothing else reads it. Throws Refusal.
  std::size_t before(std::span<LayerConfig const> list, LayerConfig const& after) const {
    if (counts_layers_) refuse("layers read values whose names count layers, which would be counted anew");
    if (list.empty()) refuse("no layer comes before it");
    std::size_t place = list.size() - 1;
    if (!after.inputs.empty()) {
      while (place > 0 && !makes(list[place], after.inputs[0])) --place;
      if (!makes(list[place], after.inputs[0]))
        refuse("no layer before it makes '" + persist::printable(after.inputs[0]) + "' alone");
    }
    if (!alone(list[place], after, place + 1 == list.size()))
      refuse("something else reads what '" + persist::printable(list[place].name) + "' makes");
    return place;
  }

 private:
  static bool makes(LayerConfig const& layer, std::string const& value) {
    return layer.outputs.size() == 1 && layer.outputs[0] == value;
  }
  /// Counts, in the whole network, how often each value is made and read.
  void survey(LayerConfig const& network) {
    std::set<std::string> generated;
    survey(network, generated);
    counts_layers_ = std::ranges::any_of(generated, [&](auto const& name) { return readers_.contains(name); });
  }
  void survey(LayerConfig const& layer, std::set<std::string>& generated) {
    for (std::string const& name : layer.inputs) ++readers_[name];
    auto const* const container = std::get_if<SequentialConfig>(&layer.layer_type);
    for (std::string const& name : layer.outputs) ++(container ? readers_ : makers_)[name];  // taken from within
    if (!container) return;
    for (std::size_t i = 0; i < container->layers.size(); ++i) {
      survey(container->layers[i], generated);
      for (bool const last : {false, true})
        generated.insert(dynamic::generated_name(container->layers[i], i, last, ""));
    }
    generated.erase("");
  }
  static int count(std::map<std::string, int> const& of, std::string const& name) {
    auto const found = of.find(name);
    return found == of.end() ? 0 : found->second;
  }
  /// Whether `after` reads what `before` makes, and nothing else does.
  bool alone(LayerConfig const& before, LayerConfig const& after, bool adjacent) const {
    if (before.outputs.size() > 1 || after.outputs.size() > 1) return false;
    if (before.outputs.empty()) return adjacent && after.inputs.empty();
    std::string const& value = before.outputs[0];
    if (adjacent && after.outputs == before.outputs) return true;  // in place
    bool const movable = count(makers_, value) == 1 && !after.outputs.empty() && count(makers_, after.outputs[0]) == 1;
    return (adjacent || movable) && count(readers_, value) == static_cast<int>(after.inputs.size());
  }

  std::map<std::string, int> makers_, readers_;
  bool counts_layers_ = false;
};

}  // namespace coldpress::convert
