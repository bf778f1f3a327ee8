// Random minibatches for tests.
#pragma once

#include <coldpress/core/layer.hpp>
#include <coldpress/testing/random.hpp>

#include <array>
#include <span>
#include <vector>

namespace coldpress::testing {

/// Random values for each of n shapes. If classes > 0, shapes of a single value get labels below `classes`.
template <std::size_t n>
struct Minibatch {
  std::array<std::vector<float>, n> values;
  std::array<std::span<float const>, n> spans;
  template <class ShapeOf>
  Minibatch(Random& random, Index batch, ShapeOf shape_of, Index classes = 0) {
    for (std::size_t k = 0; k < n; ++k) {
      Shape const shape = shape_of(static_cast<int>(k));
      values[k] = random.values<float>(batch * shape.size());
      if (classes > 0 && shape == Shape{1}) {
        for (float& label : values[k]) label = static_cast<float>(random.integer(0, classes - 1));
      }
      spans[k] = values[k];
    }
  }
};

/// Random targets that suit the loss: labels, or values in [low, high).
template <Loss auto loss, class T>
std::vector<T> targets_of(Random& random, Index batch, Shape output, float low = -1, float high = 1) {
  auto targets = random.values<T>(batch * loss.target_shape(output).size(), low, high);
  if constexpr (loss.target == Target::label) {
    for (T& label : targets) label = static_cast<T>(random.integer(0, loss.classes(output) - 1));
  }
  return targets;
}

}  // namespace coldpress::testing
