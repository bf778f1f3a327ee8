// One network, whose kernels the source that includes this chooses.
#pragma once

#include <coldpress/coldpress.hpp>

#include <vector>

std::vector<float> learn_linked();
std::vector<float> learn_compiled_in();

namespace {

using Net = coldpress::Network<coldpress::Sequential<coldpress::Linear{24}, coldpress::TanH{}, coldpress::Linear{3}>,
                               coldpress::Shape{5}>;

/// What the network makes of its samples when it has learned something.
std::vector<float> learn() {
  std::vector<float> x(16 * 5), targets(16 * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) / 11 - 0.5f;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(i * 5 % 7) / 7 - 0.5f;
  Net net{42};
  coldpress::Solver<Net, coldpress::MeanSquaredError{}, coldpress::Sgd{.learning_rate = 0.1f}> solver{net};
  for (int step = 0; step < 20; ++step) solver.train_minibatch(x, targets);
  auto const y = net.forward(x);
  return {y.begin(), y.end()};
}

}  // namespace
