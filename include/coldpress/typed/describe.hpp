// Prints a plan as a table or a picture: which layers are one pass, and where each value is.
#pragma once

#include <coldpress/backend/grid/launch.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/graph/plan.hpp>
#include <coldpress/typed/launch_estimate.hpp>
#include <coldpress/typed/static_program.hpp>

#include <string>
#include <vector>

namespace coldpress {

/// One layer of a plan.
struct LayerRow {
  std::string name;
  Index parameters = 0;
  Index flops = 0;  // per sample, in the forward pass
};

/// An inference plan that can be printed.
struct Description {
  std::vector<LayerRow> rows;  // one per node; a single input needs no name
  std::vector<Node> nodes;
  std::vector<Group> groups;
  std::vector<int> group_of, outputs;
  PlanSummary plan;
  std::size_t scalar_size;  // bytes per value; all sizes are per sample

  /// A table with the columns layer, shape, parameters, FLOPs, bytes, group (layers with the same number are computed
  /// in one pass) and buffer. The buffer is the offset of the value in the workspace and its size, in bytes per sample,
  /// and whether it is kept in blocks of images. If a layer reads something other than the layer before it, a last
  /// column says what.
  std::string table() const;
  /// The same as a GraphViz graph, in which a box is a layer and a frame is a group. `dot -Tsvg` draws it.
  std::string dot() const;

 private:
  std::string bytes(Index values) const { return std::to_string(values * static_cast<Index>(scalar_size)); }
  std::string name(std::size_t node) const {
    bool const only = nodes.size() < 2 || nodes[1].kind != Node::Kind::input;
    return nodes[node].kind == Node::Kind::input && (only || rows[node].name.empty()) ? "input" : rows[node].name;
  }
  /// Describes where the value of a node is.
  std::string buffer(std::size_t node) const {
    int const g = group_of[node];
    if (g == Group::nowhere) return "only in training";
    if (g < 0) return "the caller's";
    Group const& group = groups[static_cast<std::size_t>(g)];
    if (nodes[node].kind == Node::Kind::view) return "a view";
    if (group.output != static_cast<int>(node)) return group.pooling >= 0 ? "scratch" : "registers";
    if (!group.needed) return "not computed";
    return bytes(group.value.offset) + " + " + bytes(group.value.pitch) + (group.blocked ? ", in blocks" : "");
  }
  std::string reads(std::size_t node) const {
    std::string text;
    for (int k = 0; k < nodes[node].input_count(); ++k)
      text.append(k ? ", " : "").append(name(static_cast<std::size_t>(nodes[node].inputs[k])));
    return text;
  }
};

inline std::string Description::table() const {
  std::vector<std::vector<std::string>> table{{"layer", "shape", "parameters", "FLOPs", "bytes", "group", "buffer"}};
  bool branches = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    branches = branches || (nodes[i].kind != Node::Kind::input &&
                            (nodes[i].input_count() != 1 || nodes[i].inputs[0] != static_cast<int>(i) - 1));
  }
  if (branches) table[0].push_back("reads");
  Index parameters = 0, flops = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    LayerRow const& row = rows[i];
    bool const input = nodes[i].kind == Node::Kind::input;
    int const g = group_of[i];
    Index values = row.parameters;
    parameters += row.parameters, flops += row.flops;
    if (!input && g >= 0 && groups[static_cast<std::size_t>(g)].output == static_cast<int>(i) &&
        nodes[i].kind != Node::Kind::view)
      values += groups[static_cast<std::size_t>(g)].value.pitch + groups[static_cast<std::size_t>(g)].memory.size;
    auto const number = [&](Index n) { return input ? "" : std::to_string(n); };
    table.push_back({name(i), to_string(nodes[i].shape), number(row.parameters), number(row.flops),
                     input ? "" : bytes(values), g < 0 ? "" : std::to_string(g + 1), buffer(i)});
    if (branches) table.back().push_back(reads(i));
  }
  table.push_back({"all", "", std::to_string(parameters), std::to_string(flops), bytes(parameters + plan.workspace),
                   std::to_string(plan.groups), bytes(plan.workspace) + " (" + bytes(plan.sum) + " without reuse)"});
  if (branches) table.back().emplace_back();

  std::vector<std::size_t> width(table[0].size());
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = line[c].size() > width[c] ? line[c].size() : width[c];
  }
  std::string text;
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      std::string const fill(width[c] - line[c].size(), ' ');
      bool const left = c < 2 || c > 5, last = c + 1 == line.size();  // words are left-aligned, numbers right-aligned
      text.append(c ? "  " : "").append(left ? line[c] : fill).append(!left ? line[c] : last ? "" : fill);
    }
    text += '\n';
  }
  return text;
}

inline std::string Description::dot() const {
  auto const escaped = [](std::string const& text) {
    std::string result;
    for (char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  auto const box = [&](std::size_t i) {
    bool const input = nodes[i].kind == Node::Kind::input;
    return "n" + std::to_string(i) + " [label=\"" + escaped(name(i)) + "\\n" + to_string(nodes[i].shape) + "\\n" +
           buffer(i) + '"' + (input ? ", shape=oval" : "") + "];\n";
  };
  std::string text = "digraph network {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  int const inputs = max_network_inputs + 1;  // the network's inputs have group numbers below 0
  std::vector<std::string> boxes(static_cast<std::size_t>(inputs + plan.groups));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    int const g = group_of[i];
    if (g != Group::nowhere) boxes[static_cast<std::size_t>(inputs + g)].append(g >= 0 ? "    " : "  ").append(box(i));
  }
  for (int g = -inputs; g < plan.groups; ++g) {
    std::string const &made = boxes[static_cast<std::size_t>(inputs + g)], number = std::to_string(g + 1);
    text += g < 0 || made.empty() ? made
                                  : "  subgraph cluster_" + number + " {\n    label=\"group " + number +
                                        "\"; style=rounded;\n" + made + "  }\n";
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (group_of[i] == Group::nowhere) text += "  " + box(i);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (int k = 0; k < nodes[i].input_count(); ++k)
      text += "  n" + std::to_string(nodes[i].inputs[k]) + " -> n" + std::to_string(i) + ";\n";
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::string const number = std::to_string(k + 1), node = "output" + number;
    text += "  " + node + " [label=\"output" + (outputs.size() > 1 ? " " + number : "") + "\", shape=plaintext];\n";
    text += "  n" + std::to_string(outputs[k]) + " -> " + node + ";\n";
  }
  return text + "}\n";
}

/// The plan of a static network, ready to be printed.
template <class Net>
Description description(Net const&) {
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
  auto const& planned = Program::planned;
  return {std::move(rows),
          {planned.nodes.begin(), planned.nodes.end()},
          {planned.groups.begin(), planned.groups.end()},
          {planned.group_of.begin(), planned.group_of.end()},
          {Graph::outputs.begin(), Graph::outputs.end()},
          Program::plan(),
          sizeof(typename Net::T)};
}
/// Describes the blocks with which a GPU runs a kernel, and why.
inline std::string in_words(grid::LaunchEstimate const& estimate) {
  auto const count = [](Index n, char const* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  std::string const blocks = count(estimate.blocks, "block"), barriers = count(estimate.barriers, "barrier");
  auto const how = [&]() -> std::string {
    if (estimate.blocks == 1) return "one block, which does all the work";
    if (estimate.barriers == 0) return blocks + ", or as many as fit, without a barrier";
    if (!estimate.in_cluster()) return blocks + ", or as many as fit, with " + barriers + " across the grid";
    if (estimate.fits_cluster()) return "one cluster of " + blocks + " with " + barriers;
    return "one cluster of " + count(grid::cluster_blocks, "block") + " with " + barriers + ", faster than " + blocks +
           " with barriers across the grid";
  };
  if (estimate.block_local == 0) return how();
  return how() + "; " + std::to_string(estimate.block_local) + " have samples of their own, in " +
         std::to_string((estimate.shared + 255) / 256) + " KiB of shared memory";
}
/// Describes how many blocks compute each matrix product of a kernel, one product per line.
inline std::string in_words(std::vector<grid::ProductBlocks> const& products) {
  auto const count = [](Index n, char const* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  grid::ProductBlocks const* largest = nullptr;
  for (grid::ProductBlocks const& product : products) {
    if (!largest || product.multiply_adds() > largest->multiply_adds()) largest = &product;
  }
  std::string text;
  for (grid::ProductBlocks const& product : products) {
    text += product.count > 1 ? "  " + count(product.count, "product") + " of " : "  a product of ";
    text += std::to_string(product.rows) + " x " + std::to_string(product.columns) + " sums of " +
            count(product.terms, "term");
    if (product.parts > 1) text += ", divided into " + count(product.parts, "part");
    text += product.block_local ? ": " + count(product.blocks, "tile") + " of each block's own samples"
                                : ": " + count(product.blocks, "block");
    text += &product == largest && products.size() > 1 ? ", with the most multiply-adds\n" : "\n";
  }
  return text;
}
/// The plan of a network as text. On a GPU, or on "cuda:emulated", it also describes the kernel for this batch.
template <class Net>
requires requires { typename Net::Inference; }
std::string describe(Net const& network, Index batch = freestanding::max(Net::Batch::capacity, 1)) {
  std::string text = description(network).table();
  if constexpr (AsksForBlocks<typename Net::Backend>) {
    std::vector<grid::ProductBlocks> products;
    text += "forward is one kernel: " + in_words(launch_estimate_of(network, batch, &products)) + "\n";
    text += in_words(products);
  }
  return text;
}
/// Describes how a GPU computes a step of a solver.
template <class Solver, class Net = std::remove_cvref_t<decltype(std::declval<Solver const&>().network())>>
requires AsksForBlocks<typename Net::Backend>
std::string describe(Solver const& solver, Index batch = freestanding::max(Net::Batch::capacity, 1)) {
  std::vector<grid::ProductBlocks> products;
  std::string const kernel = in_words(launch_estimate_of(solver, batch, &products));
  return "a step is one kernel: " + kernel + "\n" + in_words(products);
}
template <class Net>
std::string dot(Net const& network) {
  return description(network).dot();
}

}  // namespace coldpress
