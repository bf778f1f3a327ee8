// A config as nodes, names and parameters: what graph/static_graph.hpp is to a type.
#pragma once

#include "stranger.hpp"

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/graph_parts.hpp>

namespace coldpress::dynamic {

struct Graph : GraphParts {
  std::vector<GraphLayer> layers;  // layers[i] is node i; those of inputs are Flatten{} and not looked at
  std::vector<std::vector<WeightConfig>> params;  // of each node
  bool force_backward = false;                    // the inputs' gradients are wanted in training steps too

  /// Throws ConfigError, ShapeError or UnsupportedError, with the layer's name. `input`: where the config does not say.
  Graph(LayerConfig const& config, std::optional<Shape> input);

  int inputs() const;
  bool has_losses() const;
  /// Whether any layer is from outside the library, and whether such a one has parameters.
  bool has_strangers() const;
  bool has_strange_parameters() const;
  /// The parameters' names and shapes, every one once: weights()[i] is parameter owners()[i].
  std::vector<int> owners() const;
  std::vector<Executable::Weight> weights() const;
};

/// Whether two shapes are sequences of the same features over other numbers of steps, for a network that has a layer
/// for such: its weights then are the same.
bool other_steps(LayerConfig const& config, Shape const& a, Shape const& b);

/// The shape of one sample that a config asks for, if it says: that of its container's input, or of the first child
/// that has one.
std::optional<Shape> declared_input(LayerConfig const& config);

}  // namespace coldpress::dynamic
