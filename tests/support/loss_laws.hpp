// The laws that every loss keeps. A loss is given by a struct with make(shape of the output), since some depend on it.
#pragma once

#include "support/layer_laws.hpp"

namespace coldpress::test {

/// Random targets that suit the loss.
template <Loss auto loss, class T>
std::vector<T> targets_of(Random& random, Index batch, Shape output) {
  auto targets = random.values<T>(batch * loss.target_shape(output).size());
  if constexpr (loss.target == Target::label) {
    for (T& label : targets) label = static_cast<T>(random.integer(0, output.size() - 1));
  }
  return targets;
}

/// The gradients of training are the central differences of N times the reported loss, for every parameter of the
/// network.
template <class Net, Shape in, Loss auto loss>
void loss_gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, AnyBatch, Reference<double>>;
  auto network = random_network<N>(seed);
  Solver<N, loss, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
  Random random{seed};
  auto const x = random.values<double>(batch * in.size());
  auto const targets = targets_of<loss, double>(random, batch, N::output_shape);
  solver.train_minibatch(x, targets);
  auto const gradients = copy_of<double>(solver.gradients());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& value = network.parameters()[i];
    double const middle = value, step = 1e-6;
    auto const objective = [&](double shifted) {
      value = shifted;
      return static_cast<double>(batch) * solver.train_minibatch(x, targets);
    };
    double const numeric = (objective(middle + step) - objective(middle - step)) / (2 * step);
    value = middle;
    demand(std::abs(gradients[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric), violations,
           "gradient of parameter " + std::to_string(i) + " is " + std::to_string(gradients[i]) +
               ", by differences of N losses " + std::to_string(numeric) + place<N>(batch));
  }
}

/// The loss in one pass with the softmax before it gives the gradients, within the bound, that the two give one after
/// the other.
template <class Net, Shape in, Loss auto loss>
void loss_fusion_law(Index batch, std::uint64_t seed, Violations& violations) {
  using Exact = Network<Net, in, AnyBatch, Reference<double>>;
  using Fast = Network<Net, in>;
  Random random{seed};
  auto const x = random.values<float>(batch * in.size());
  auto const targets = targets_of<loss, float>(random, batch, Fast::output_shape);
  auto const gradients = [&]<class N>(N network, bool fused) {
    using T = typename N::T;
    auto const input = copy_of<T>(x), wanted = copy_of<T>(targets);
    if (fused) {
      Solver<N, loss, Sgd{}, SolverOptions{.keep_gradients = true}> solver{network};
      solver.train_minibatch(input, wanted);
      return canonical<N>(solver.gradients());
    }
    typename N::TrainingWorkspace workspace;
    auto const y = network.forward_training(input, workspace);
    std::vector<T> dy(y.size());
    Index const size = N::output_shape.size();
    for (Index i = 0; i < batch; ++i) {
      if constexpr (loss.target == Target::label) {
        auto const at = static_cast<std::size_t>(i * size + static_cast<Index>(targets[static_cast<std::size_t>(i)]));
        dy[at] = loss.gradient(y.values[at], T{});
      } else {
        for (auto at = static_cast<std::size_t>(i * size); at < static_cast<std::size_t>((i + 1) * size); ++at) {
          dy[at] = loss.gradient(y.values[at], wanted[at]);
        }
      }
    }
    network.backward(dy, workspace);
    return canonical<N>(workspace.gradients());
  };
  auto const exact = gradients(random_network<Exact>(seed), false);
  auto const terms = static_cast<double>(std::max({batch, in.size(), Fast::output_shape.size()}));
  for (bool const fused : {false, true}) {
    double const by = excess(gradients(random_network<Fast>(seed), fused), exact, terms);
    demand(by <= 1, violations,
           (fused ? "fused" : "separate") + std::string{" gradients are "} + std::to_string(by) +
               " times the bound from the reference" + place<Fast>(batch));
  }
}

/// What the loss does wrong after one kind of last layer: gradients over as many widths and batches as numbers are
/// given, the other laws over four batches.
template <class Maker, Layer auto tail, int... n>
void loss_laws_after(std::integer_sequence<int, n...>, Violations& violations) {
  (loss_gradient_law<Sequential<Linear{law_shape(n, 30).size()}, tail>, Shape{3},
                     Maker::make(Shape{law_shape(n, 30).size()})>(1 + n % 5, n, violations),
   ...);
  using Net = Sequential<Linear{35}, TanH{}, Linear{21}, tail>;
  for (Index const batch : {1, 2, 13, 32}) {
    auto const seed = static_cast<std::uint64_t>(batch);
    training_law<Net, Shape{9}, Maker::make(Shape{21})>(batch, seed, violations);
    loss_fusion_law<Net, Shape{9}, Maker::make(Shape{21})>(batch, seed, violations);
  }
}

/// What the loss does wrong after each of the last layers, over twenty widths in all.
template <class Maker, Layer auto... tails>
Violations loss_violations() {
  Violations violations;
  (loss_laws_after<Maker, tails>(std::make_integer_sequence<int, 20 / sizeof...(tails)>{}, violations), ...);
  return violations;
}

template <class Maker, Layer auto... tails>
void check_loss_laws() {
  for (std::string const& violation : loss_violations<Maker, tails...>()) FAIL_CHECK(violation);
  SUCCEED();
}

}  // namespace coldpress::test
