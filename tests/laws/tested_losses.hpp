// The laws of losses, for network types and configs alike.
#pragma once

#include <coldpress/testing/laws.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::test {

/// A network in training by a loss that it is given, or by those inside it.
class TestedLosses {
 public:
  virtual ~TestedLosses() = default;

  Shape input, output;

  virtual std::span<double> parameters() = 0;
  /// The mean loss of a minibatch. Computes the gradients, and changes no parameter.
  virtual double loss_of(std::vector<double> const& x, std::vector<double> const& targets) = 0;
  /// Those of the parameters, of the sum over the samples, in the same order.
  virtual std::vector<double> gradients() = 0;
};

/// For every parameter of the network, the gradient in training equals the central difference of N times the reported
/// loss, where N is the number of samples.
inline void loss_gradient_law(TestedLosses& network, std::vector<double> const& x, std::vector<double> const& targets,
                              testing::Violations& violations) {
  Index const batch = static_cast<Index>(x.size()) / network.input.size();
  network.loss_of(x, targets);
  auto const gradients = network.gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& value = network.parameters()[i];
    double const middle = value, step = 1e-6;
    auto const objective = [&](double shifted) {
      value = shifted;
      return static_cast<double>(batch) * network.loss_of(x, targets);
    };
    double const numeric = (objective(middle + step) - objective(middle - step)) / (2 * step);
    value = middle;
    testing::demand(std::abs(gradients[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric), violations,
                    "gradient of parameter " + std::to_string(i) + " is " + std::to_string(gradients[i]) +
                        ", but the central difference of N losses is " + std::to_string(numeric) +
                        testing::place_of(network.input, batch));
  }
}

/// What the laws need to know of a loss.
struct LossUnderTest {
  std::function<std::vector<float>(testing::Random&, Index batch, Shape const& output)> targets;
  // Of one sample: receives the gradient with respect to y.
  std::function<void(Shape const& output, float const* y, float const* target, float* dy)> gradient;
  std::function<void(Shape const& output, double const* y, double const* target, double* dy)> exact_gradient;
};

/// A loss in one pass with the preceding softmax gives the same gradients, within the bound, as the two one after the
/// other. `fused` computes the gradients of the network `separate` in training by the loss.
inline void loss_fusion_law(
    LossUnderTest const& loss, testing::TestedNetwork<float>& separate, testing::TestedNetwork<double>& exact,
    std::function<std::vector<float>(std::vector<float> const& x, std::vector<float> const& targets)> const& fused,
    Index batch, std::uint64_t seed, testing::Violations& violations) {
  testing::Random random{seed};
  Shape const& out = separate.output;
  auto const x = random.values<float>(batch * separate.input.size());
  auto const targets = loss.targets(random, batch, out);
  auto const one_by_one = [&]<class T>(testing::TestedNetwork<T>& network, auto const& gradient) {
    std::vector<T> const t(targets.begin(), targets.end());
    auto const y = network.forward_training({x.begin(), x.end()});
    std::vector<T> dy(y.size());
    Index const width = static_cast<Index>(t.size()) / batch;
    for (Index i = 0; i < batch; ++i)
      gradient(out, y.data() + i * out.size(), t.data() + i * width, dy.data() + i * out.size());
    network.backward(dy);
    return network.gradients();
  };
  auto const wanted = one_by_one(exact, loss.exact_gradient);
  auto const terms = static_cast<double>(std::max({batch, separate.input.size(), out.size()}));
  auto const check = [&](std::vector<float> const& made, char const* how) {
    double const by = testing::excess(made, wanted, terms);
    testing::demand(by <= 1, violations,
                    how + std::string{" gradients are "} + std::to_string(by) + " times the bound from the reference" +
                        testing::place_of(separate.input, batch));
  };
  check(one_by_one(separate, loss.gradient), "separate");
  check(fused(x, targets), "fused");
}

/// Training by the losses inside a network, so many steps by Sgd at this rate, gives the results of the reference
/// within the bound: the losses, and the parameters after them. `terms` is the number of those of the longest sum.
inline constexpr float own_losses_rate = 0.02f;
inline constexpr int own_losses_steps = 4;
inline void own_losses_law(std::vector<float> const& trained, TestedLosses& exact, Index terms, Index batch,
                           std::uint64_t seed, testing::Violations& violations) {
  testing::Random random{seed};
  std::vector<double> wanted;
  for (int step = 0; step < own_losses_steps; ++step) {
    wanted.push_back(exact.loss_of(random.values<double>(batch * exact.input.size()), {}));
    auto const gradients = exact.gradients();
    for (std::size_t i = 0; i < gradients.size(); ++i)
      exact.parameters()[i] -= static_cast<double>(own_losses_rate) * gradients[i] / static_cast<double>(batch);
  }
  auto const parameters = exact.parameters();
  wanted.insert(wanted.end(), parameters.begin(), parameters.end());
  double const by = testing::excess(trained, wanted, static_cast<double>(std::max(batch, terms))) / own_losses_steps;
  testing::demand(by <= 1, violations,
                  "training is " + std::to_string(by) + " times the bound from the reference" +
                      testing::place_of(exact.input, batch));
}

/// Gradients flow back through predictions and targets: those of the parameters behind the targets come last.
inline void own_losses_gradient_law(TestedLosses& network, Index batch, std::uint64_t seed,
                                    testing::Violations& violations) {
  auto const x = testing::Random{seed}.values<double>(batch * network.input.size());
  loss_gradient_law(network, x, {}, violations);
  network.loss_of(x, {});
  testing::demand(network.gradients().back() != 0, violations,
                  "no gradient comes through the targets" + testing::place_of(network.input, batch));
}

}  // namespace coldpress::test
