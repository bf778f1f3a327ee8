// A config as nodes, names and parameters: the counterpart of typed/static_graph.hpp for run time.
#pragma once

#include "custom_node.hpp"

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/graph_parts.hpp>

#include <functional>

namespace coldpress::dynamic {

struct Graph : GraphParts {
  std::vector<GraphLayer> layers;  // layers[i] is that of node i; those of inputs are Flatten{} and ignored
  std::vector<std::shared_ptr<AnyLayer const>> custom_layers;  // to which the nodes of custom layers refer
  std::vector<std::vector<WeightConfig>> params;               // per node
  bool force_backward = false;  // whether training steps compute the inputs' gradients, too

  /// Throws ConfigError, ShapeError or UnsupportedError with the layer's name. `input` is used if the config has no
  /// shape.
  Graph(LayerConfig const& config, std::optional<Shape> input);

  int inputs() const;
  bool has_losses() const;
  /// Whether the graph has custom layers, and whether one of these has parameters.
  bool has_custom_layers() const;
  bool has_custom_parameters() const;
  /// The distinct parameters: weights()[i] has the name and the shape of parameter owners()[i].
  std::vector<int> owners() const;
  std::vector<Executable::Weight> weights() const;
  /// Throws ShapeError for the first parameter that shares weights with one that a backend keeps in another order.
  void check_sharing(std::function<bool(Parameter const&, Parameter const&)> const& has_one_order) const;
};

/// Whether two shapes are sequences of the same features with different numbers of steps, and the network has a layer
/// for sequences, so that its weights are the same for both.
bool other_steps(LayerConfig const& config, Shape const& a, Shape const& b);

/// The shape of one sample that a config declares, if any: that of its container's input, or of the first child that
/// declares one.
std::optional<Shape> declared_input(LayerConfig const& config);

}  // namespace coldpress::dynamic
