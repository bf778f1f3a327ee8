// What becomes of a network in steps on random minibatches of given sizes.
#pragma once

#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/forms.hpp"
#include "support/layer_laws.hpp"

#include <initializer_list>
#include <memory>
#include <vector>

namespace coldpress::test {

struct Trained {
  std::vector<double> losses, weights, outputs;
  bool operator==(Trained const&) const = default;
};
template <class Network, auto optimizer, SolverOptions options>
Trained trained_on(std::initializer_list<Index> batches, Executor* executor = nullptr) {
  auto const net = std::make_unique<Network>(3);
  net->run_on(executor);
  auto const solver = std::make_unique<Solver<Network, MeanSquaredError{}, optimizer, options>>(*net);
  Trained all;
  Random random{5};
  for (Index const batch : batches) {
    auto const x = random.values<typename Network::T>(batch * Network::input_shape.size()),
               t = random.values<typename Network::T>(batch * Network::output_shape.size());
    all.losses.push_back(static_cast<double>(solver->train_minibatch(x, t)));
    CHECK(solver->output().batch == batch);
    all.outputs.insert(all.outputs.end(), solver->output().begin(), solver->output().end());
  }
  all.weights = copy_of<double>(canonical(*net));
  return all;
}

}  // namespace coldpress::test
