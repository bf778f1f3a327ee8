// The parts of a graph that GraphBuilder fills at run time, for configs and for functions.
#pragma once

#include <coldpress/graph/graph_builder.hpp>

#include <map>
#include <string>
#include <vector>

namespace coldpress::dynamic {

/// A table of numbers by name.
class NameTable {
 public:
  int& find_or_add(std::string_view name, int number) {
    return numbers_.try_emplace(std::string{name}, number).first->second;
  }
  bool contains(std::string_view name) const { return numbers_.contains(name); }

 private:
  std::map<std::string, int, std::less<>> numbers_;
};

struct GraphParts {
  template <class T>
  using List = std::vector<T>;
  using Table = NameTable;
  using Types = TypeList<>;  // the layer types that a function may use

  std::vector<Node> nodes;  // the inputs first
  std::vector<std::string> names;
  std::vector<Parameter> parameters;
  std::vector<int> parameter_node;   // per parameter: its node
  std::vector<int> owner;            // per parameter: the first parameter that it shares weights with, or itself
  std::vector<int> first_parameter;  // per node, and one more at the end
  std::vector<int> outputs;          // the nodes of the outputs
  int sums = 0;                      // the number of sums of all losses and statistics
  int weight_count = 0;              // the number of parameters, counting shared ones once

  /// Throws ConfigError. `node` is the layer with the error, or -1.
  [[noreturn]] void refuse(char const* sentence, int node) const;
  /// Throws ShapeError because two nodes of different shapes cannot be joined.
  [[noreturn]] void refuse_join(int first, int second) const;
};

}  // namespace coldpress::dynamic
