// The laws that every layer must obey, for the tests of anyone who writes a layer.
#pragma once

// coldpress::testing::violations<Snake{0.5f}>() is empty, or says what is wrong. The laws are in testing/laws.hpp; here
// are the networks of types that they examine.

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/testing/compare.hpp>
#include <coldpress/testing/laws.hpp>
#include <coldpress/testing/minibatch.hpp>
#include <coldpress/testing/random.hpp>
#include <coldpress/typed/operations.hpp>

#include <string>
#include <vector>

/// The number of shapes on which gradients are checked, for a layer that takes every shape. More take longer to
/// compile.
#if !defined COLDPRESS_LAW_SHAPES
#define COLDPRESS_LAW_SHAPES 6
#endif

namespace coldpress::testing {

/// Nearly all laws examine a network with dense layers around the layer, to which shape and parameters belong.
template <class Net>
std::string place(Index batch) {
  return place_of(Net::input_shape, batch);
}

/// A network with random parameters, the same for every backend.
template <class Network>
Network random_network(std::uint64_t seed) {
  Network network{seed};
  Random random{seed + 1};
  for (int i = 0; i < Network::weight_count; ++i)
    network.write_weight(i, random_weight<typename Network::T>(random, Network::weight(i)));
  return network;
}
/// All parameters, or values in the same layout, in canonical order.
template <class Network>
auto canonical(std::span<typename Network::T const> buffer) {
  using T = typename Network::T;
  std::vector<T> all;
  for (int i = 0; i < Network::weight_count; ++i) {
    T const* const weight =
        buffer.data() + Network::Training::memory.slots[static_cast<std::size_t>(Network::Graph::weights[i])].offset;
    for (Index e = 0; e < Network::weight_shape(i).size(); ++e)
      all.push_back(typename Network::Backend{}.get(Network::weight(i), weight, e));
  }
  return all;
}
template <class Network>
auto canonical(Network const& network) {
  return canonical<Network>(network.parameters());
}

/// The results of a forward and a backward pass.
template <class Network>
requires requires { Network::weight_count; }
Pass<typename Network::T> pass(Network const& network, Index batch, std::uint64_t seed) {
  using T = typename Network::T;
  Random random{seed};
  auto const x = random.values<T>(batch * Network::input_shape.size()),
             dy = random.values<T>(batch * Network::output_shape.size());
  typename Network::TrainingWorkspace workspace;
  Pass<T> made;
  made.output = copy_of<T>(network.forward_training(x, workspace));
  made.input_gradient = copy_of<T>(network.backward(dy, workspace));
  made.gradients = canonical<Network>(workspace.gradients());
  return made;
}

/// A network type under test. Laws compare the reference's results in training alone, so that its inference is not
/// compiled.
template <class Network>
class TestedType final : public TestedNetwork<typename Network::T> {
  using T = typename Network::T;

 public:
  explicit TestedType(std::uint64_t seed) : network_{seed} {
    this->input = Network::input_shape, this->output = Network::output_shape;
    for (int i = 0; i < Network::weight_count; ++i)
      this->weights.push_back({Network::weight(i), std::string{std::string_view{Network::weight_name(i)}}});
    for (Node const& node : Network::Graph::nodes) this->largest = std::max(this->largest, node.shape.size());
  }
  std::vector<T> read(std::size_t weight) const override { return read(network_.parameters().data(), weight); }
  void write(std::size_t weight, std::vector<T> const& values) override {
    network_.write_weight(static_cast<int>(weight), values);
  }
  std::vector<T> forward([[maybe_unused]] std::vector<T> const& x) override {
    if constexpr (std::is_same_v<T, double>) {
      return {};
    } else {
      return copy_of<T>(network_.forward(x));
    }
  }
  std::vector<T> forward_training(std::vector<T> const& x, std::uint64_t step) override {
    x_ = x;  // backward reads it again
    return copy_of<T>(network_.forward_training(x_, workspace_, step));
  }
  std::vector<T> backward(std::vector<T> const& dy) override { return copy_of<T>(network_.backward(dy, workspace_)); }
  std::vector<T> gradient(std::size_t weight) const override { return read(workspace_.gradients().data(), weight); }

 private:
  std::vector<T> read(T const* buffer, std::size_t weight) const {
    std::vector<T> values(static_cast<std::size_t>(this->weights[weight].parameter.shape.size()));
    network_.read(buffer, static_cast<int>(weight), values);
    return values;
  }
  Network network_;
  typename Network::TrainingWorkspace workspace_;
  std::vector<T> x_;
};
/// It has parameters from its seed, or random ones.
template <class Network>
Tested<typename Network::T> tested(std::uint64_t seed) {
  return std::make_unique<TestedType<Network>>(seed);
}
template <class Network>
Tested<typename Network::T> tested_randomly(std::uint64_t seed) {
  return randomized(tested<Network>(seed), seed);
}

// The laws of laws.hpp for network types.
template <class Net, Shape in>
using Exact = Network<Net, in, DynamicBatch, Reference<double>>;
template <class Net, Shape in>
void gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  gradient_law(*tested_randomly<Exact<Net, in>>(seed), batch, seed, violations);
}
template <class Net, Shape in>
void sample_law(Index batch, std::uint64_t seed, Violations& violations) {
  sample_law(*tested_randomly<Exact<Net, in>>(seed), batch, seed, violations);
}
template <class Net, Shape in, class Backend>
void shape_law(Index batch, std::uint64_t seed, Violations& violations) {
  shape_law(*tested_randomly<Network<Net, in, DynamicBatch, Backend>>(seed), batch, seed, violations);
}
template <class Net, Shape in, class Backend>
void backend_law(char const* whose, Index batch, std::uint64_t seed, Violations& violations) {
  auto const tried = tested_randomly<Network<Net, in, DynamicBatch, Backend>>(seed);
  backend_law(*tried, *tested_randomly<Exact<Net, in>>(seed), whose, batch, seed, violations);
}

/// The losses, outputs and parameters after some steps of training.
template <class Network, Loss auto loss, SolverOptions options = SolverOptions{}>
std::vector<typename Network::T> trained(Index batch, std::uint64_t seed, int steps = 4) {
  using T = typename Network::T;
  auto network = random_network<Network>(seed);
  Solver<Network, loss, Sgd{.learning_rate = law_rate, .momentum = law_momentum}, options> solver{network};
  Random random{seed};
  std::vector<T> result;
  for (int step = 0; step < steps; ++step) {
    auto const x = random.values<T>(batch * Network::input_shape.size());
    auto const targets = targets_of<loss, T>(random, batch, Network::output_shape);
    result.push_back(solver.train_minibatch(x, targets));
    result.insert(result.end(), solver.output().begin(), solver.output().end());
  }
  auto const parameters = canonical(network);
  result.insert(result.end(), parameters.begin(), parameters.end());
  return result;
}

/// The training of a network type for training_law.
template <class Net, Shape in, Loss auto loss>
std::vector<float> trained_type(Index batch, std::uint64_t seed, bool gradients) {
  using Fast = Network<Net, in>;
  return gradients ? trained<Fast, loss, SolverOptions{.keep_gradients = true}>(batch, seed)
                   : trained<Fast, loss>(batch, seed);
}
/// With any loss, training gives the reference's results within the bound, if COLDPRESS_LAW_SHAPES is above 1, because
/// it takes the compiler long.
template <class Net, Shape in, Loss auto loss>
void exact_training_law(Index batch, std::uint64_t seed, Violations& violations) {
  if constexpr (COLDPRESS_LAW_SHAPES > 1) {
    using Fast = Network<Net, in>;
    int constexpr steps = 4;
    auto const exact = trained<Exact<Net, in>, loss>(batch, seed, steps);
    Index terms = batch;
    for (Node const& node : Fast::Graph::nodes) terms = std::max(terms, node.shape.size());
    double const by = excess(trained<Fast, loss>(batch, seed, steps), exact, static_cast<double>(terms)) / steps;
    demand(by <= 1, violations,
           "training is " + std::to_string(by) + " times the bound from the reference" + place<Fast>(batch));
  }
}
template <class Net, Shape in, Loss auto loss>
void training_law(Index batch, std::uint64_t seed, Violations& violations) {
  training_law(trained_type<Net, in, loss>, in, batch, seed, violations);
  exact_training_law<Net, in, loss>(batch, seed, violations);
}

/// Which laws are checked: all, or those of the values alone: of gradients, of samples that are independent, of
/// training, and of the reference's results. The others are of how layers share memory and passes.
enum class Laws { all, of_values };

template <Laws which, class Net>
LayerUnderTest type_under_test(bool by_sample) {
  static constexpr Shape in{5};
  return {.by_sample = by_sample,
          .exact = tested_randomly<Exact<Net, in>>,
          .fast = tested_randomly<Network<Net, in>>,
          .trained = trained_type<Net, in, MeanSquaredError{}>,
          .shapes = which == Laws::all};
}
template <Layer auto layer, Shape in>
Fusion fusion_of(std::uint64_t seed) {
  static constexpr Linear before{in.size()}, after{3};
  static constexpr Shape inner{5}, out = layer.output_shape(in);
  return {tested_randomly<Network<Sequential<before, Reshape{in}, layer, after>, inner>>(seed),
          {tested<Network<Sequential<before, Reshape{in}>, inner>>(seed), tested<Network<Sequential<layer>, in>>(seed),
           tested<Network<Sequential<after>, out>>(seed)}};
}
/// The laws on one sample shape, between other layers. What the layer computes alone is the same by fusion_law.
template <Laws which, Layer auto layer, Shape in>
void laws_at(std::uint64_t seed, Violations& violations) {
  using Inside = Sequential<Linear{in.size()}, Reshape{in}, layer, Linear{3}>;
  auto network = type_under_test<which, Inside>(is_by_sample(layer, Shapes{&in, 1}));
  if constexpr (which == Laws::all) network.fusion = fusion_of<layer, in>;
  check_laws(network, law_batches(seed), seed, violations);
}

/// A layer of several inputs, or of none, inside a network of one input. Each of its inputs is a Linear of the
/// network's input, with the given shapes; the output of a layer without inputs is added to such a Linear.
template <Layer auto layer, Shape... shapes>
constexpr auto between() {
  using L = std::remove_cvref_t<decltype(layer)>;
  return graph<L>([](auto x) {
    if constexpr (Source<L>) {
      return ((x | Linear{layer.output_shape().size()} | Reshape{layer.output_shape()}) + source(layer, x)) | Linear{3};
    } else {
      return apply(layer, (x | Linear{shapes.size()} | Reshape{shapes})...) | Linear{3};
    }
  });
}
template <Laws which, Layer auto layer, Shape... shapes>
void laws_between(std::uint64_t seed, Violations& violations) {
  static constexpr std::array<Shape, sizeof...(shapes)> inputs{shapes...};
  check_laws(type_under_test<which, Graph<between<layer, shapes...>()>>(is_by_sample(layer, inputs)),
             several_inputs_batches, seed, violations);
}

/// Does not compile for a layer that the laws cannot examine.
template <class L>
consteval void require_input_gradient() {
  static_assert(Source<L> || LayerTraits<L>::propagates,
                "the laws examine a layer through the gradient of its input, and this one passes none");
}

template <Laws which, Layer auto layer, Shape... shapes>
Violations violations_of() {
  using L = std::remove_cvref_t<decltype(layer)>;
  require_input_gradient<L>();
  Violations found;
  if constexpr (!OneInput<L>) {
    laws_between<which, layer, shapes...>(400, found);
  } else if constexpr (sizeof...(shapes) > 0) {
    std::uint64_t seed = 300;
    (laws_at<which, layer, shapes>(seed += 50, found), ...);
  } else {
    laws_at<which, layer, Shape{3, 5, 7}>(200, found);
    if constexpr (COLDPRESS_LAW_SHAPES > 1) {
      constexpr bool pointwise = PointwiseLayer<L>;
      constexpr int count = pointwise && COLDPRESS_LAW_SHAPES > 6 ? 6 : COLDPRESS_LAW_SHAPES;
      [&]<int... n>(std::integer_sequence<int, n...>) {
        (gradient_law<Sequential<layer>, law_shape(n)>(1 + n % 4 * 2, n, found), ...);
      }
      (std::make_integer_sequence<int, count>{});
      laws_at<which, layer, Shape{71}>(100, found);
    }
  }
  return found;
}

/// Everything that the layer does wrong. A layer of one input that takes every shape is tested with all laws on a shape
/// of rank 3 that is longer than a tile is wide. If COLDPRESS_LAW_SHAPES is above 1, it is tested on one of rank 1 as
/// well, and with gradients on as many random shapes (at most six for pointwise layers, for which the shape is
/// irrelevant). Otherwise give the shapes, and all laws are tested on each of them; for a layer of several inputs, they
/// are the shapes of its inputs. The layer must pass a gradient to its input, through which the laws examine it.
template <Layer auto layer, Shape... shapes>
[[nodiscard]] Violations violations() {
  return violations_of<Laws::all, layer, shapes...>();
}
/// What is wrong with the values of the layer: for one more setting of a layer that keeps all laws in another. It takes
/// two thirds of the time to compile.
template <Layer auto layer, Shape... shapes>
[[nodiscard]] Violations value_violations() {
  return violations_of<Laws::of_values, layer, shapes...>();
}

}  // namespace coldpress::testing
