// A plan as a table: what is computed in one pass, and where each value lives.
#pragma once

#include <coldpress/graph/plan.hpp>
#include <coldpress/graph/static_program.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace coldpress {

/// One layer of a plan, for people.
struct LayerRow {
  std::string name;
  Index parameters = 0;
  Index flops = 0;  // of one sample's forward pass
};

/// The table of an inference plan. `rows` has one for each node; an only input needs no name; sizes are of one
/// sample and of `scalar_size` bytes a value.
inline std::string describe(std::span<LayerRow const> rows, std::span<Node const> nodes, std::span<Group const> groups,
                            std::span<int const> group_of, PlanSize const& plan, std::size_t scalar_size) {
  std::vector<std::vector<std::string>> table{{"layer", "shape", "parameters", "FLOPs", "bytes", "group", "buffer"}};
  auto const bytes = [&](Index values) { return std::to_string(values * static_cast<Index>(scalar_size)); };
  Index parameters = 0, flops = 0;
  auto const inputs =
      std::count_if(nodes.begin(), nodes.end(), [](Node const& n) { return n.kind == Node::Kind::input; });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    LayerRow const& row = rows[i];
    if (nodes[i].kind == Node::Kind::input) {
      table.push_back({inputs == 1 ? "input" : row.name, to_string(nodes[i].shape), "", "", "", "", "the caller's"});
      continue;
    }
    parameters += row.parameters, flops += row.flops;
    int const g = group_of[i];
    std::string buffer = "the caller's";
    Index values = row.parameters;
    if (g == Group::nowhere) buffer = "";
    if (g >= 0) {
      Buffer const& value = groups[static_cast<std::size_t>(g)].value;
      bool const view = nodes[i].kind == Node::Kind::view;
      bool const last = groups[static_cast<std::size_t>(g)].output == static_cast<int>(i);
      buffer = view ? "a view" : !last ? "registers" : bytes(value.offset) + " + " + bytes(value.pitch);
      if (last && !view) values += value.pitch + groups[static_cast<std::size_t>(g)].memory.size;
    }
    table.push_back({row.name, to_string(nodes[i].shape), std::to_string(row.parameters), std::to_string(row.flops),
                     bytes(values), g < 0 ? "" : std::to_string(g + 1), buffer});
  }
  table.push_back({"all", "", std::to_string(parameters), std::to_string(flops), bytes(parameters + plan.workspace),
                   std::to_string(plan.groups), bytes(plan.workspace) + " (" + bytes(plan.sum) + " without reuse)"});

  std::vector<std::size_t> width(table[0].size());
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = line[c].size() > width[c] ? line[c].size() : width[c];
  }
  std::string text;
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      std::string const fill(width[c] - line[c].size(), ' ');
      bool const left = c < 2 || c == 6;  // words to the left, numbers to the right
      text.append(c ? "  " : "").append(left ? line[c] : fill).append(!left ? line[c] : c == 6 ? "" : fill);
    }
    text += '\n';
  }
  return text;
}

/// The table of a static network: layer, shape, parameters, FLOPs, bytes, group (layers with one number are one pass),
/// and where in the workspace the value of a sample starts and how much it takes, in bytes.
template <class Net>
std::string describe(Net const&) {
  using Graph = typename Net::Graph;
  using Program = typename Net::Inference;
  std::vector<LayerRow> rows;
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (
        [&] {
          LayerRow row{std::string{Graph::names[i].view()}};
          if constexpr (i >= Graph::inputs && Graph::nodes[i].sums < 0)
            row.flops = flops_of(Graph::template layer<i>, Shapes{Graph::template input_shapes<i>});
          for (int k = Graph::parameters.first[i]; i >= Graph::inputs && k < Graph::parameters.first[i + 1]; ++k)
            row.parameters += Graph::parameters.owner[k] == k ? Graph::parameters.list[k].shape.size() : 0;
          rows.push_back(row);
        }(),
        ...);
  }
  (std::make_integer_sequence<int, Graph::size>{});
  return describe(rows, Program::planned.nodes, Program::planned.groups, Program::planned.group_of, Program::plan(),
                  sizeof(typename Net::T));
}

}  // namespace coldpress
