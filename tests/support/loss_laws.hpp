// The laws that every loss must keep.
#pragma once

// A loss is given by a struct with make(shape of the output), because some losses depend on that shape.

#include "support/layer_laws.hpp"

#include <coldpress/typed/operations.hpp>

namespace coldpress::test {

/// For every parameter of the network, the gradient in training equals the central difference of N times the reported
/// loss, where N is the number of samples.
template <class Net, Shape in, Loss auto loss>
void loss_gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Reference<double>>;
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
               ", but the central difference of N losses is " + std::to_string(numeric) + place<N>(batch));
  }
}

/// A loss in one pass with the preceding softmax gives the same gradients, within the bound, as the two one after the
/// other.
template <class Net, Shape in, Loss auto loss>
void loss_fusion_law(Index batch, std::uint64_t seed, Violations& violations) {
  using Exact = Network<Net, in, DynamicBatch, Reference<double>>;
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
    Index const width = static_cast<Index>(wanted.size()) / batch;
    for (Index i = 0; i < batch; ++i) {
      if constexpr (SampleLoss<std::remove_cvref_t<decltype(loss)>>) {
        loss.sample(N::output_shape, y.sample(i).data(), wanted.data() + i * width, dy.data() + i * size,
                    static_cast<T*>(nullptr));
      } else if constexpr (loss.target == Target::label) {
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

/// A network that compares two values inside it.
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
struct Hidden {
  constexpr auto operator()(auto x) const {
    auto const h = x | Linear{6} | TanH{};
    auto const y = h | Linear{values} | tail | name("y");
    apply(loss, y, h | Linear{values} | target_tail) | name("loss");
    return y;
  }
};

/// The losses and parameters after some steps of training with the losses in the network's function.
template <class Net>
std::vector<typename Net::T> trained_on_own_losses(Index batch, std::uint64_t seed) {
  using T = typename Net::T;
  auto network = random_network<Net>(seed);
  Solver<Net, OwnLosses{}, Sgd{.learning_rate = 0.02f}> solver{network};
  Random random{seed};
  std::vector<T> result;
  for (int step = 0; step < 4; ++step)
    result.push_back(solver.train_minibatch(random.values<T>(batch * Net::input_shape.size())));
  auto const parameters = canonical(network);
  result.insert(result.end(), parameters.begin(), parameters.end());
  return result;
}
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_training_law(Index batch, std::uint64_t seed, Violations& violations) {
  static constexpr auto function = graph(Hidden<loss, values, tail, target_tail>{});
  static constexpr Shape in{4};
  using Fast = Network<Graph<function>, in>;
  double const by =
      excess(trained_on_own_losses<Fast>(batch, seed),
             trained_on_own_losses<Network<Graph<function>, in, DynamicBatch, Reference<double>>>(batch, seed),
             static_cast<double>(std::max({batch, values, Index{6}}))) /
      4;
  demand(by <= 1, violations,
         "training is " + std::to_string(by) + " times the bound from the reference" + place<Fast>(batch));
}

/// Gradients flow back through predictions and targets: they are the central differences of N times the reported loss.
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  static constexpr auto function = graph(Hidden<loss, values, tail, target_tail>{});
  using Net = Network<Graph<function>, Shape{4}, DynamicBatch, Reference<double>>;
  auto network = random_network<Net>(seed);
  Solver<Net, OwnLosses{}, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
  Random random{seed};
  auto const x = random.values<double>(batch * 4);
  solver.train_minibatch(x);
  auto const gradients = copy_of<double>(solver.gradients());
  demand(gradients.back() != 0, violations, "no gradient comes through the targets" + place<Net>(batch));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& value = network.parameters()[i];
    double const middle = value, step = 1e-6;
    auto const objective = [&](double shifted) {
      value = shifted;
      return static_cast<double>(batch) * solver.train_minibatch(x);
    };
    double const numeric = (objective(middle + step) - objective(middle - step)) / (2 * step);
    value = middle;
    demand(std::abs(gradients[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric), violations,
           "gradient of parameter " + std::to_string(i) + " is " + std::to_string(gradients[i]) +
               ", but the central difference of N losses is " + std::to_string(numeric) + place<Net>(batch));
  }
}
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_loss_law(Index batch, std::uint64_t seed, Violations& violations) {
  hidden_gradient_law<loss, values, tail, target_tail>(batch, seed, violations);
  hidden_training_law<loss, values, tail, target_tail>(batch, seed, violations);
}

/// Everything that the loss does wrong after one kind of last layer. The gradients are tested on as many widths and
/// batch sizes as there are numbers n, the other laws with four batch sizes.
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

/// What the loss does wrong after each of the last layers, over as many widths in all as a
/// law has shapes, but one at least for each layer.
template <class Maker, Layer auto... tails>
Violations loss_violations() {
  Violations violations;
  (loss_laws_after<Maker, tails>(
       std::make_integer_sequence<int, (COLDPRESS_LAW_SHAPES + sizeof...(tails) - 1) / sizeof...(tails)>{}, violations),
   ...);
  return violations;
}

/// The laws after one last layer at a few widths, and for two compared values inside the network. This suffices for a
/// loss that is computed in the same way as others.
template <class Maker, Layer auto tail, Layer auto target_tail>
void check_own_loss_laws() {
  Violations violations;
  loss_laws_after<Maker, tail>(std::make_integer_sequence<int, 3>{}, violations);
  hidden_loss_law<Maker::make(Shape{5}), 5, tail, target_tail>(3, 1, violations);
  hidden_loss_law<Maker::make(Shape{19}), 19, tail, target_tail>(7, 2, violations);
  check_none(violations);
}

template <class Maker, Layer auto... tails>
void check_loss_laws() {
  for (std::string const& violation : loss_violations<Maker, tails...>()) FAIL_CHECK(violation);
  SUCCEED();
}

}  // namespace coldpress::test
