// The results of a forward and a backward pass of a static network on random samples.
#pragma once

#include "support/layer_laws.hpp"

#include <array>
#include <span>
#include <vector>

namespace coldpress::test {

/// Output, input gradient and gradients of the weights. Further outputs are read but get no gradients.
template <class Net>
std::vector<std::vector<double>> passed(Index batch) {
  using T = typename Net::T;
  Net const net{5};
  typename Net::TrainingWorkspace workspace;
  Random random{9};
  auto const x = random.values<T>(batch * Net::input_shape.size());
  std::vector<std::vector<double>> all{copy_of<double>(net.forward_training(x, workspace))};
  std::vector<T> dy[Net::output_count];
  std::array<std::span<T const>, Net::output_count> gradients;
  for (int k = 0; k < Net::output_count; ++k) {
    Index const size = batch * Net::shape_of_output(k).size();
    dy[k] = k == 0 ? random.values<T>(size) : std::vector<T>(static_cast<std::size_t>(size));
    gradients[static_cast<std::size_t>(k)] = dy[k];
  }
  all.push_back(copy_of<double>(net.backward(gradients, workspace)));
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, gradient);
    all.emplace_back(gradient.begin(), gradient.end());
  }
  return all;
}

}  // namespace coldpress::test
