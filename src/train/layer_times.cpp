// Times each group of a plan as a network of its own, several times, and keeps the shortest.
#include <coldpress/train/layer_times.hpp>

#include <coldpress/dynamic/layer.hpp>

#include <algorithm>
#include <chrono>
#include <map>

namespace coldpress::train {
namespace {

using dynamic::Executable, dynamic::LayerConfig, dynamic::Mode, dynamic::Values;

using Leaves = std::map<std::string_view, LayerConfig const*>;

void collect(LayerConfig const& config, Leaves& leaves) {
  if (auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type)) {
    for (LayerConfig const& child : container->layers) collect(child, leaves);
  } else {
    leaves.emplace(config.name, &config);
  }
}

std::string value_of(int node) { return "value" + std::to_string(node); }

/// The layers of one group as a network, which reads the values of other groups as inputs.
std::optional<LayerConfig> network_of(Description const& plan, int group, Leaves const& leaves) {
  dynamic::SequentialConfig container;
  std::vector<int> inputs;
  std::vector<bool> inside(plan.nodes.size()), read(plan.nodes.size());
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    Node const& node = plan.nodes[i];
    if (plan.group_of[i] != group || node.kind == Node::Kind::input) continue;
    auto const leaf = leaves.find(plan.rows[i].name);
    if (leaf == leaves.end()) return {};
    LayerConfig layer = *leaf->second;
    layer.inputs.clear(), layer.outputs = {value_of(static_cast<int>(i))}, layer.propagate_down.clear();
    for (int k = 0; k < node.input_count(); ++k) {
      int const from = node.inputs[k];
      auto const source = static_cast<std::size_t>(from);
      layer.inputs.push_back(value_of(from));
      layer.propagate_down.push_back(node.open(k) && plan.nodes[source].kind != Node::Kind::input);
      read[source] = true;
      if (!inside[source] && std::ranges::find(inputs, from) == inputs.end()) inputs.push_back(from);
    }
    inside[i] = true;
    container.add_layer(std::move(layer));
  }
  if (container.layers.empty() || inputs.empty()) return {};
  for (int const from : inputs) container.add_input(value_of(from), plan.nodes[static_cast<std::size_t>(from)].shape);
  LayerConfig network{"group", std::move(container)};
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (inside[i] && !read[i]) network.outputs.push_back(value_of(static_cast<int>(i)));
  }
  return network;
}

/// Zeros for a minibatch of each shape.
struct Zeros {
  Zeros(std::span<Shape const> shapes, Index samples) {
    for (Shape const& shape : shapes) memory.emplace_back(static_cast<std::size_t>(samples * shape.size()));
    values.assign(memory.begin(), memory.end());
  }
  std::vector<std::vector<float>> memory;
  std::vector<Values> values;
};

/// The shortest time of several runs, without the first.
double seconds_of(auto const& run) {
  constexpr double enough = 0.005;
  constexpr int least = 3;  // a run may be interrupted
  double all = 0, shortest = 0;
  run();
  for (int runs = 0; runs < least || all < enough; ++runs) {
    auto const start = std::chrono::steady_clock::now();
    run();
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    shortest = runs > 0 ? std::min(shortest, seconds) : seconds;
    all += seconds;
  }
  return shortest;
}

GroupTime time_of(LayerConfig const& config, Index samples) {
  auto const zero = [](std::vector<Executable::Weight> const& weights) { return std::vector<Values>(weights.size()); };
  auto const layer = dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, 0, zero);
  Executable& network = layer.executable();
  Zeros const inputs{network.input_shapes(), samples}, gradients{network.output_shapes(), samples};
  GroupTime time{.forward = seconds_of([&] { network.forward(inputs.values, Mode::training); })};
  try {
    time.backward = seconds_of([&] {
      network.backward_input(gradients.values);
      network.backward_parameters();
    });
  } catch (Error const&) {  // the layers have no backward pass
  }
  return time;
}

}  // namespace

std::vector<std::optional<GroupTime>> group_times(Description const& plan, LayerConfig const& network, Index samples) {
  Leaves leaves;
  collect(network, leaves);
  std::vector<std::optional<GroupTime>> times(static_cast<std::size_t>(plan.plan.groups));
  for (std::size_t g = 0; g < times.size(); ++g) {
    if (!plan.groups[g].needed) continue;
    try {
      if (auto const config = network_of(plan, static_cast<int>(g), leaves)) times[g] = time_of(*config, samples);
    } catch (Error const&) {  // a network of the group alone is refused
    }
  }
  return times;
}

}  // namespace coldpress::train
