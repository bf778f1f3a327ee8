// Which nodes of a graph the outputs depend on.
#pragma once

#include "graph.hpp"

#include <vector>

namespace coldpress::dynamic {

/// For each node, whether an output depends on it or is it.
inline std::vector<bool> needed_nodes(Graph const& graph) {
  std::vector<bool> needed(graph.nodes.size());
  for (int const output : graph.outputs) needed[static_cast<std::size_t>(output)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {  // a node comes after what it reads
    Node const& node = graph.nodes[i];
    for (int k = 0; needed[i] && k < node.input_count(); ++k) needed[static_cast<std::size_t>(node.inputs[k])] = true;
  }
  return needed;
}

}  // namespace coldpress::dynamic
