// Who reads what: the names of values, as Juice has them.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <map>
#include <string_view>

namespace coldpress::dynamic {

/// A value that a layer may read: a node's output, or (`open` false) one through which no gradient flows back.
struct Value {
  int node = -1;
  bool open = true;
};

/// Names, for looking up one among however many. What they are of must outlive it.
class Names {
 public:
  explicit Names(std::vector<std::string> const& names);
  bool contains(std::string_view name) const;

 private:
  std::vector<std::string_view> sorted_;
};

/// The names inside one container. Names that the user gives win over those that Juice makes for values without one.
class Scope {
 public:
  /// Another meaning for the name: in place. Throws ConfigError where another layer has made it.
  void give(std::string const& name, Value value, bool in_place);
  void give_generated(std::string const& name, Value value);
  /// Null where there is none.
  Value const* find(std::string const& name) const;

 private:
  std::map<std::string, Value> given_, generated_;
};

/// The order in which a container's layers can be added: that of the list where it will do, as in Juice; else one in
/// which each comes after those that make what it reads, those that work in place first, as in Mocha. `scope`: what is
/// there before; `nameless`: the first layer may read anything. Throws ConfigError for a cycle.
struct Order {
  std::vector<std::size_t> layers;
  std::size_t steps;  // that it took: layers and names looked at
};
Order order_of(std::vector<LayerConfig> const& layers, Scope const& scope, bool nameless);

/// Whether the layer reads nothing.
bool is_source(LayerType const& type);

/// The name that Juice makes for what layer i of a container makes: that of what it works on where it can work in place
/// and is not the last, else one with a number. `before`: the name of what the nearest earlier layer makes that is not
/// in place, or of the container's first input.
std::string generated_name(LayerConfig const& layer, std::size_t i, bool last, std::string const& before);

/// Whether Juice computes the layer in place where it may: pointwise layers without random numbers, and views.
bool works_in_place(LayerType const& type);

}  // namespace coldpress::dynamic
