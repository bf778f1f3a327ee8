// Connects layers by the names of values, by Juice's rules.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <map>
#include <string_view>

namespace coldpress::dynamic {

/// A value that a layer may read: a node's output; no gradient flows back through it if `open` is false.
struct Value {
  int node = -1;
  bool open = true;
};

/// A set of names for quick look-up. It refers to the strings, which must outlive it.
class Names {
 public:
  explicit Names(std::vector<std::string> const& names);
  bool contains(std::string_view name) const;

 private:
  std::vector<std::string_view> sorted_;
};

/// The names inside one container. Names that the user gives take precedence over those that Juice generates.
class Scope {
 public:
  /// Names a value. If the name is taken, it gets a new meaning if the layer works in place; otherwise throws
  /// ConfigError.
  void give(std::string const& name, Value value, bool in_place);
  void give_generated(std::string const& name, Value value);
  /// Null if there is no such name.
  Value const* find(std::string const& name) const;

 private:
  std::map<std::string, Value> given_, generated_;
};

/// The order in which a container's layers can be added: that of the list if possible, as in Juice; otherwise one in
/// which each layer comes after those that compute what it reads, and layers that work in place come first, as in
/// Mocha. `scope` has the names outside the list; `nameless` allows the first layer to read any name. Throws
/// ConfigError for a cycle.
struct Order {
  std::vector<std::size_t> layers;
  std::size_t steps;  // the number of layers and names that were examined
};
Order order_of(std::vector<LayerConfig> const& layers, Scope const& scope, bool nameless);

/// Whether the layer has no inputs.
bool is_source(LayerType const& type);

/// The name that Juice generates for the output of layer i of a container: if the layer can work in place and is not
/// the last, the name of its input, otherwise one with a number. `before` is the name of the output of the nearest
/// earlier layer that does not work in place, or of the container's first input.
std::string generated_name(LayerConfig const& layer, std::size_t i, bool last, std::string const& before);

/// Whether Juice computes the layer in place if it can: pointwise layers without random numbers, and views.
bool works_in_place(LayerType const& type);

}  // namespace coldpress::dynamic
