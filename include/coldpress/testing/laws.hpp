// The laws of networks: what must hold whatever a network's layers are, and whatever says what they are.
#pragma once

// A law examines networks through TestedNetwork, so that it is compiled once, in coldpress::reference, for network
// types and configs alike. It adds a sentence for every violation.

#include <coldpress/core/parameter.hpp>
#include <coldpress/testing/compare.hpp>
#include <coldpress/testing/random.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::testing {

using Violations = std::vector<std::string>;

void demand(bool holds, Violations& violations, std::string const& sentence);

/// A network of one input under test, with memory for one pass at a time. Values of weights and gradients are in
/// canonical order.
template <class T>
class TestedNetwork {
 public:
  virtual ~TestedNetwork() = default;

  struct Weight {
    Parameter parameter;
    std::string name;
  };
  Shape input, output;  // of one sample
  std::vector<Weight> weights;
  Index largest = 0;  // the values per sample of the largest node

  virtual std::vector<T> read(std::size_t weight) const = 0;
  virtual void write(std::size_t weight, std::vector<T> const& values) = 0;
  virtual std::vector<T> forward(std::vector<T> const& x) = 0;
  virtual std::vector<T> forward_training(std::vector<T> const& x, std::uint64_t step = 1) = 0;
  virtual std::vector<T> backward(std::vector<T> const& dy) = 0;
  virtual std::vector<T> gradient(std::size_t weight) const = 0;

  /// The gradients of all weights, one after another.
  std::vector<T> gradients() const {
    std::vector<T> all;
    for (std::size_t i = 0; i < weights.size(); ++i) append(all, gradient(i));
    return all;
  }
  static void append(std::vector<T>& all, std::vector<T> const& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
};
template <class T>
using Tested = std::unique_ptr<TestedNetwork<T>>;

/// Where a law was broken, for its sentence: in nearly all laws, in a network with dense layers around the layer, to
/// which shape and parameters belong.
std::string place_of(Shape const& input, Index batch);

/// Random values for a weight, the same for every backend. Values keep their magnitude from layer to layer, and running
/// statistics are positive, because they may be variances.
template <class T>
std::vector<T> random_weight(Random& random, Parameter const& parameter) {
  Shape const& shape = parameter.shape;
  Index const terms = shape.rank() > 1 ? parameter.fan_in : shape.size();
  float const range = std::sqrt(3 / static_cast<float>(terms));
  bool const statistic = parameter.is_statistic();
  return random.values<T>(shape.size(), statistic ? 0.5f : -range, statistic ? 1.5f : range);
}
/// The network with such weights.
template <class T>
Tested<T> randomized(Tested<T> network, std::uint64_t seed) {
  Random random{seed + 1};
  for (std::size_t i = 0; i < network->weights.size(); ++i)
    network->write(i, random_weight<T>(random, network->weights[i].parameter));
  return network;
}

/// Gradients equal central differences of Σ dy y, with respect to each value of the input and of the parameters except
/// running statistics, which have no gradient.
void gradient_law(TestedNetwork<double>& network, Index batch, std::uint64_t seed, Violations& violations);

/// A layer computes each sample independently, unless it declares mixes_samples: two parts of a minibatch give the same
/// results as the whole, forward and backward, and their parameter gradients add up to those of the whole.
void sample_law(TestedNetwork<double>& network, Index batch, std::uint64_t seed, Violations& violations);

/// The output has the declared shape, is written completely, and depends on nothing that an earlier pass left.
void shape_law(TestedNetwork<float>& network, Index batch, std::uint64_t seed, Violations& violations);

/// The networks of fusion_law.
struct Fusion {
  Tested<float> whole, parts[3];
};
/// Layers computed in one pass give the same bits as the layers one by one, forward and backward.
void fusion_law(Fusion const& fusion, Index batch, std::uint64_t seed, Violations& violations);

/// The results of a forward and a backward pass.
template <class T>
struct Pass {
  std::vector<T> output, input_gradient, gradients;
};
template <class T>
Pass<T> pass(TestedNetwork<T>& network, Index batch, std::uint64_t seed) {
  Random random{seed};
  auto const x = random.values<T>(batch * network.input.size()), dy = random.values<T>(batch * network.output.size());
  Pass<T> made;
  made.output = network.forward_training(x);
  made.input_gradient = network.backward(dy);
  made.gradients = network.gradients();
  return made;
}
/// The results equal those of the reference in double, within 8 eps sqrt(terms).
void backend_law(TestedNetwork<float>& tried, TestedNetwork<double>& reference, std::string const& whose, Index batch,
                 std::uint64_t seed, Violations& violations);

/// What four steps of training by MeanSquaredError and Sgd make of a network from the same seed: the loss and the
/// outputs of each step, and the weights after them. With `gradients`, these are in memory before the update.
inline constexpr float law_rate = 0.02f, law_momentum = 0.5f;
using TrainedNetwork = std::function<std::vector<float>(Index batch, std::uint64_t seed, bool gradients)>;
/// Training gives the same bits with and without a fused update and when repeated.
void training_law(TrainedNetwork const& trained, Shape const& input, Index batch, std::uint64_t seed,
                  Violations& violations);

/// The results of training equal those of the reference in double, whose steps the law takes.
void exact_training_law(TrainedNetwork const& trained, TestedNetwork<double>& exact, Index batch, std::uint64_t seed,
                        Violations& violations);

/// The networks in which laws examine a layer, each made with random parameters from a seed.
struct LayerUnderTest {
  bool by_sample = true;  // whether the layer computes samples independently
  std::function<Tested<double>(std::uint64_t seed)> exact;
  std::function<Tested<float>(std::uint64_t seed)> fast;
  TrainedNetwork trained;
  std::function<Fusion(std::uint64_t seed)> fusion = {};  // empty: not checked
  bool shapes = true;                                     // whether shape_law is checked
};
/// All laws, on minibatches of these sizes, the first two also with gradients. A new law is one more line in
/// src/testing/laws.cpp.
void check_laws(LayerUnderTest const& layer, std::span<Index const> batches, std::uint64_t seed,
                Violations& violations);

/// The minibatches for a layer of one input: 1, small and random sizes.
std::vector<Index> law_batches(std::uint64_t seed);

/// Those for a layer of several inputs or of none.
inline constexpr Index several_inputs_batches[] = {1, 2, 3, 17, 31};

}  // namespace coldpress::testing
