// A small regression, as a network type and as a config with the same bits.
#pragma once

#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include <cmath>
#include <memory>

namespace coldpress::train {

struct Task {
  std::unique_ptr<data::Source> training, validation;
};

/// y = sin(3 a) + b^2 for points (a, b) on a spiral.
inline data::Dataset spiral(Index size, float phase) {
  data::Dataset dataset{.sample_shape = {2}, .target_shape = {1}};
  for (Index i = 0; i < size; ++i) {
    float const t = static_cast<float>(i) * 0.37f + phase, r = static_cast<float>(i) / static_cast<float>(size);
    float const a = r * std::cos(t), b = r * std::sin(t);
    dataset.samples.insert(dataset.samples.end(), {a, b});
    dataset.targets.push_back(std::sin(3 * a) + b * b);
  }
  return dataset;
}
inline Task task(Index size) { return {data::own(spiral(size, 0)), data::own(spiral(size / 2, 1))}; }
/// The validation's targets have nothing to do with the samples, so that validation gets worse as training goes on.
inline Task noisy_task(Index size) {
  data::Dataset noise = spiral(size / 2, 1);
  for (std::size_t i = 0; i < noise.targets.size(); ++i) noise.targets[i] = i % 3 == 0 ? 1.0f : -0.5f;
  return {data::own(spiral(size, 0)), data::own(std::move(noise))};
}

using Layers = Sequential<Linear{8}, TanH{}, Linear{1}>;
using Net = Network<Layers, Shape{2}>;
using Fit = coldpress::Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.2f, .momentum = 0.5f}>;

struct Typed {
  std::unique_ptr<Net> net = std::make_unique<Net>(7);
  std::unique_ptr<Fit> solver = std::make_unique<Fit>(*net);
};
struct Dynamic {
  std::unique_ptr<dynamic::Solver> solver = [] {
    Typed const typed;
    return std::make_unique<dynamic::Solver>(
        dynamic::Solver::from_config(dynamic::Backend::like_static(), dynamic::to_solver_config(*typed.solver), {}, 7));
  }();
};

}  // namespace coldpress::train
