// Networks from configs, as the laws examine them.
#pragma once

#include "laws/config_laws.hpp"

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/testing/laws.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coldpress::test {

dynamic::LayerType copied(BuiltinLayer layer);
/// Layers one after the other, behind an input of this shape.
dynamic::LayerConfig sequential(std::vector<dynamic::LayerConfig> layers, Shape const& in);
dynamic::LayerConfig wired(dynamic::LayerConfig layer, std::vector<std::string> inputs, std::string output);
Shape output_shape(dynamic::LayerConfig const& network);

/// A network in double, on the program of "cpu:reference", with random parameters.
testing::Tested<double> exact_of(dynamic::LayerConfig const& config, std::uint64_t seed);
/// One with losses inside it. A second input receives the targets, if there is one.
std::unique_ptr<TestedLosses> exact_losses_of(dynamic::LayerConfig const& config, std::uint64_t seed);

/// A network as programs use it.
class FastConfig final : public testing::TestedNetwork<float> {
 public:
  FastConfig(dynamic::LayerConfig const& config, std::uint64_t seed);

  std::vector<float> read(std::size_t weight) const override { return read(dynamic::Executable::data, weight); }
  void write(std::size_t weight, std::vector<float> const& values) override;
  std::vector<float> forward(std::vector<float> const& x) override;
  std::vector<float> forward_training(std::vector<float> const& x, std::uint64_t step) override;
  std::vector<float> backward(std::vector<float> const& dy) override;
  std::vector<float> gradient(std::size_t weight) const override { return read(dynamic::Executable::gradient, weight); }

  dynamic::Layer layer;

 private:
  std::vector<float> read(int buffer, std::size_t weight) const;
  std::vector<float> x_;
};
/// One with random parameters.
testing::Tested<float> fast_of(dynamic::LayerConfig const& config, std::uint64_t seed);

/// Training of a config by an objective, which is none if the network has losses of its own.
struct ConfigTraining {
  dynamic::LayerConfig network;
  std::optional<dynamic::LayerConfig> objective = {};
  std::function<std::vector<float>(testing::Random&, Index batch, Shape const& output)> targets = {};  // or random
  float rate = testing::law_rate, momentum = testing::law_momentum;
  bool outputs = true;  // whether the results have the outputs of each step

  /// The losses and outputs of four steps, and the weights after them.
  std::vector<float> operator()(Index batch, std::uint64_t seed, bool gradients) const;
  /// The gradients of one minibatch.
  std::vector<float> gradients(std::vector<float> const& x, std::vector<float> const& targets,
                               std::uint64_t seed) const;
};

}  // namespace coldpress::test
