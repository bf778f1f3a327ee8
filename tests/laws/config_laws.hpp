// The laws of layers and of losses for networks from configs.
#pragma once

// What they compile does not depend on the layer, so that any number of layers, losses and shapes takes the compiler no
// longer.

#include "laws/tested_losses.hpp"

#include <coldpress/layers.hpp>
#include <coldpress/testing/laws.hpp>

namespace coldpress::test {

/// One of a list of built-in layers or losses without its type: its number in the list, and where it is.
template <class List>
struct Builtin {
  int type;
  void const* value;
};
using BuiltinLayer = Builtin<BuiltinLayers>;
using BuiltinLoss = Builtin<BuiltinLosses>;
template <class List, class L>
Builtin<List> builtin(L const& value) {
  static_assert(index_of<L>(typename List::Plain{}) >= 0);
  return {index_of<L>(typename List::Plain{}), &value};
}

/// Everything that the layer does wrong as a config on the backend like_static(), compared with the reference in
/// double: on the shapes that are given, or for a layer of several inputs, of its inputs; if there are none, on shapes
/// of all ranks.
testing::Violations violations_of_config(BuiltinLayer layer, std::vector<Shape> const& shapes);

/// Layers one after the other, and a loss of their output.
struct LossConfig {
  std::vector<BuiltinLayer> layers;
  Shape in, targets;
  BuiltinLoss loss;
};
/// A network that compares two values inside it, each {values} behind one of these layers.
inline constexpr Shape hidden_input{4};
struct HiddenLossConfig {
  BuiltinLoss loss;
  Index values;
  BuiltinLayer tail, target_tail;
};
std::unique_ptr<TestedLosses> losses_of_config(LossConfig const& config, std::uint64_t seed);
std::unique_ptr<TestedLosses> losses_of_config(HiddenLossConfig const& config, std::uint64_t seed);

// The laws of tested_losses.hpp and training_law, for a config on the backend like_static(). The loss that training
// reports is that of the reference within the bound.
void loss_training_law(LossConfig const& config, LossUnderTest const& loss, Index batch, std::uint64_t seed,
                       testing::Violations& violations);
void loss_fusion_law(LossConfig const& config, LossUnderTest const& loss, Index batch, std::uint64_t seed,
                     testing::Violations& violations);
void own_losses_law(HiddenLossConfig const& config, Index batch, std::uint64_t seed, testing::Violations& violations);

}  // namespace coldpress::test
