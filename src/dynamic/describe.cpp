// Plans a config for the CPU without making its weights, and collects the layers and groups that are described.
#include <coldpress/dynamic/describe.hpp>

#include <coldpress/backend/layout.hpp>
#include <coldpress/core/counted.hpp>
#include "graph.hpp"

#include <coldpress/typed/describe.hpp>

namespace coldpress::dynamic {

Description description(LayerConfig const& config, std::optional<Shape> input) {
  Graph const graph{config, input};
  std::vector<LayerRow> rows;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    LayerRow row{graph.names[i]};
    for (int k = graph.first_parameter[i]; k < graph.first_parameter[i + 1]; ++k) {
      auto const at = static_cast<std::size_t>(k);
      if (graph.owner[at] == k) row.parameters += graph.parameters[at].shape.size();
    }
    std::visit(
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          if constexpr (coldpress::Layer<L>) {
            std::vector<Shape> in;
            for (int k = 0; k < graph.nodes[i].input_count(); ++k)
              in.push_back(graph.nodes[static_cast<std::size_t>(graph.nodes[i].inputs[k])].shape);
            if (graph.nodes[i].kind != Node::Kind::input) row.flops = flops_of(layer, Shapes{in});
          }
        },
        graph.layers[i]);
    rows.push_back(row);
  }
  std::vector<Group> groups(graph.nodes.size());
  std::vector<int> group_of(graph.nodes.size());
  auto const plan = make_plan(graph.nodes, graph.outputs, {.pitch = cpu::Layout::pitch}, groups, group_of);
  return {std::move(rows), graph.nodes, std::move(groups), std::move(group_of), graph.outputs, plan, sizeof(float)};
}

std::string describe(LayerConfig const& config, std::optional<Shape> input) {
  return description(config, input).table();
}
std::string dot(LayerConfig const& config, std::optional<Shape> input) { return description(config, input).dot(); }

std::string describe_on_gpu(LayerConfig const& config, std::optional<Shape> input) {
  Graph const graph{config, input};
  if (graph.has_custom_layers()) return "on a GPU: refused, for a layer is from outside the library\n";
  std::vector<Group> groups(graph.nodes.size());
  std::vector<int> group_of(graph.nodes.size());
  auto const plan = make_plan(graph.nodes, graph.outputs, {.blocks = 0, .pitch = cpu::Layout::pitch}, groups, group_of);
  int kernels = 0;
  for (int g = 0; g < plan.groups; ++g) {
    Group const& group = groups[static_cast<std::size_t>(g)];
    if (!group.needed || group.loss >= 0 || group.statistic >= 0) continue;
    bool const separate =
        group.head >= 0 && (group.chain_length > 0 || group.join >= 0) &&
        !std::visit([](auto const& layer) { return LayerTraits<std::remove_cvref_t<decltype(layer)>>::fuses; },
                    graph.layers[static_cast<std::size_t>(group.head)]);
    kernels += separate ? 2 : 1;
  }
  return "on a GPU: forward is one graph of " + counted(kernels, "kernel") +
         ", each with as many blocks as it has work for\n";
}

}  // namespace coldpress::dynamic
