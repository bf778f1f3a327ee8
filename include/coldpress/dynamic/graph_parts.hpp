// What GraphBuilder fills at run time: that of a config (src/dynamic/graph.hpp), and of a network's function.
#pragma once

#include <coldpress/graph/graph_builder.hpp>

#include <map>
#include <string>
#include <vector>

namespace coldpress::dynamic {

/// Numbers by name.
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
  using Types = TypeList<>;  // the layers that a function may use

  std::vector<Node> nodes;  // the inputs first
  std::vector<std::string> names;
  std::vector<Parameter> parameters;
  std::vector<int> parameter_node;   // the node of each,
  std::vector<int> owner;            // and the first parameter that it is the same as
  std::vector<int> first_parameter;  // of each node, and one beyond
  std::vector<int> outputs;          // nodes
  int sums = 0;                      // of losses and statistics
  int weight_count = 0;              // parameters, each once

  /// Throws ConfigError; `node`: in which layer, or -1.
  [[noreturn]] void refuse(char const* sentence, int node) const;
  /// Throws ShapeError: two nodes of different shapes cannot be joined.
  [[noreturn]] void refuse_join(int first, int second) const;
};

}  // namespace coldpress::dynamic
