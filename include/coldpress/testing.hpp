// The laws that every layer must obey, for the tests of anyone who writes a layer.
#pragma once

// coldpress::testing::violations<Snake{0.5f}>() is empty, or says what is wrong. A law examines one network and adds a
// sentence for every violation.

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/testing/compare.hpp>
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

using Violations = std::vector<std::string>;

inline void demand(bool holds, Violations& violations, std::string const& sentence) {
  if (!holds && violations.size() < 20) violations.push_back(sentence);
}
/// Nearly all laws examine a network with dense layers around the layer, to which shape and parameters belong.
template <class Net>
std::string place(Index batch) {
  return " (in a network around the layer: sample " + to_string(Net::input_shape) + ", batch " + std::to_string(batch) +
         ")";
}

/// A network with random parameters, the same for every backend. Values keep their magnitude from layer to layer, and
/// running statistics are positive, because they may be variances.
template <class Network>
Network random_network(std::uint64_t seed) {
  Network network{seed};
  Random random{seed + 1};
  for (int i = 0; i < Network::weight_count; ++i) {
    Shape const shape = Network::weight_shape(i);
    Index const terms = shape.rank() > 1 ? Network::Graph::parameters.list[i].fan_in : shape.size();
    float const range = std::sqrt(3 / static_cast<float>(terms));
    bool const statistic = Network::weight(i).is_statistic();
    network.write_weight(
        i, random.values<typename Network::T>(shape.size(), statistic ? 0.5f : -range, statistic ? 1.5f : range));
  }
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
template <class T>
struct Pass {
  std::vector<T> output, input_gradient, gradients;
};
template <class Network>
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

/// Gradients equal central differences of Σ dy y, with respect to each value of the input and of the parameters except
/// running statistics, which have no gradient.
template <class Net, Shape in>
void gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Reference<double>>;
  auto network = random_network<N>(seed);
  Random random{seed + 2};
  auto x = random.values<double>(batch * in.size());
  auto const dy = random.values<double>(batch * N::output_shape.size());
  typename N::TrainingWorkspace workspace, other;
  network.forward_training(x, workspace);
  auto const dx = copy_of<double>(network.backward(dy, workspace));

  auto const difference = [&](double& value) {
    double const middle = value, step = 1e-6;
    auto const objective = [&](double shifted) {
      value = shifted;
      double sum = 0;
      auto const y = network.forward_training(x, other);
      for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * y.values[i];
      return sum;
    };
    double const slope = (objective(middle + step) - objective(middle - step)) / (2 * step);
    value = middle;
    return slope;
  };
  auto const compare = [&](std::span<double> values, std::span<double const> gradient, std::string const& of) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const numeric = difference(values[i]);
      demand(std::abs(gradient[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric), violations,
             "gradient of " + of + ", value " + std::to_string(i) + ", is " + std::to_string(gradient[i]) +
                 ", but the central difference is " + std::to_string(numeric) + place<N>(batch));
    }
  };
  compare(x, dx, "input");
  for (int i = 0; i < N::weight_count; ++i) {
    if (N::weight(i).is_statistic()) continue;
    Slot const& slot = N::Training::memory.slots[static_cast<std::size_t>(N::Graph::weights[i])];
    auto const first = static_cast<std::size_t>(slot.offset), size = static_cast<std::size_t>(slot.size);
    compare(network.parameters().subspan(first, size), workspace.gradients().subspan(first, size),
            "parameter " + std::string{std::string_view{N::weight_name(i)}});
  }
}

/// A layer computes each sample independently, unless it declares mixes_samples: two parts of a minibatch give the same
/// results as the whole, forward and backward, and their parameter gradients add up to those of the whole.
template <class Net, Shape in>
void sample_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Reference<double>>;
  auto const network = random_network<N>(seed);
  Random random{seed + 3};
  auto const x = random.values<double>(batch * in.size()), dy = random.values<double>(batch * N::output_shape.size());
  std::vector<double> made[2], gradients[2];  // of the whole, and of the parts
  auto const go = [&](int which, Index first, Index last) {
    typename N::TrainingWorkspace workspace;
    auto const some = [&](std::vector<double> const& values, Shape const& shape) {
      return std::span{values}.subspan(static_cast<std::size_t>(first * shape.size()),
                                       static_cast<std::size_t>((last - first) * shape.size()));
    };
    std::vector<double> const y = copy_of<double>(network.forward_training(some(x, in), workspace, 7)),
                              dx = copy_of<double>(network.backward(some(dy, N::output_shape), workspace));
    auto const of_parameters = canonical<N>(workspace.gradients());
    gradients[which].resize(of_parameters.size());
    for (std::size_t i = 0; i < of_parameters.size(); ++i) gradients[which][i] += of_parameters[i];
    auto& to = made[which];
    for (Index i = 0; i < last - first; ++i) {
      for (auto const* values : {&y, &dx}) {
        auto const size = static_cast<std::ptrdiff_t>(values->size()) / (last - first);
        to.insert(to.end(), values->begin() + i * size, values->begin() + (i + 1) * size);
      }
    }
  };
  go(0, 0, batch);
  go(1, 0, batch / 2), go(1, batch / 2, batch);
  auto const compare = [&](std::vector<double> const(&of)[2], double bound, char const* sentence) {
    for (std::size_t i = 0; i < of[0].size(); ++i)
      demand(std::abs(of[0][i] - of[1][i]) <= bound * (1 + std::abs(of[0][i])), violations, sentence + place<N>(batch));
  };
  compare(made, 1e-12, "a sample depends on the others, and mixes_samples is not declared");
  compare(gradients, 1e-11, "gradients of parameters are no sums over samples, and mixes_samples is not declared");
}

/// The output has the declared shape, is written completely, and depends on nothing that an earlier pass left.
template <class Net, Shape in, class Backend>
void shape_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Backend>;
  using T = typename N::T;
  auto network = random_network<N>(seed);
  std::vector<T> const poison(static_cast<std::size_t>((batch + 1) * in.size()), std::numeric_limits<T>::quiet_NaN());
  typename N::TrainingWorkspace workspace;
  auto x = Random{seed}.values<T>(batch * in.size());
  auto const inferred = copy_of<T>(network.forward(x)), trained = copy_of<T>(network.forward_training(x, workspace));
  network.forward(poison);
  network.forward_training(poison, workspace);
  network.backward(std::vector<T>(static_cast<std::size_t>((batch + 1) * N::output_shape.size()), poison[0]),
                   workspace);
  demand(static_cast<Index>(inferred.size()) == batch * N::output_shape.size(), violations,
         "wrong output size" + place<N>(batch));
  demand(same_bits(inferred, network.forward(x)), violations,
         "forward reads what an earlier pass left" + place<N>(batch));
  demand(same_bits(trained, network.forward_training(x, workspace)), violations,
         "forward_training reads what an earlier pass left" + place<N>(batch));
  auto const dy = Random{seed + 1}.values<T>(batch * N::output_shape.size());
  auto const dx = network.backward(dy, workspace);
  demand(static_cast<Index>(dx.size()) == batch * in.size(), violations,
         "wrong size of the input gradient" + place<N>(batch));
  for (T const value : dx)
    demand(std::isfinite(value), violations, "an input gradient is not written" + place<N>(batch));
  for (T const value : workspace.gradients()) {
    demand(std::isfinite(value), violations, "a gradient is not written" + place<N>(batch));
  }
}

/// Layers computed in one pass give the same bits as the layers one by one, forward and backward.
template <Layer auto layer, Shape in>
void fusion_law(Index batch, std::uint64_t seed, Violations& violations) {
  static constexpr Linear before{in.size()}, after{3};
  static constexpr Shape inner{5}, out = layer.output_shape(in);
  auto const whole = random_network<Network<Sequential<before, Reshape{in}, layer, after>, inner>>(seed);
  Network<Sequential<before, Reshape{in}>, inner> first{seed};
  Network<Sequential<layer>, in> second{seed};
  Network<Sequential<after>, out> third{seed};
  int from = 0;
  auto const take = [&](auto& part) {
    for (int i = 0; i < part.weight_count; ++i, ++from) {
      std::vector<float> weight(static_cast<std::size_t>(part.weight_shape(i).size()));
      whole.read_weight(from, weight);
      part.write_weight(i, weight);
    }
  };
  take(first), take(second), take(third);

  Random random{seed};
  auto const x = random.values<float>(batch * inner.size()), dy = random.values<float>(batch * 3);
  auto const text = place<Network<Sequential<layer>, in>>(batch);
  typename decltype(whole)::Workspace inference;
  auto const inferred = copy_of<float>(whole.forward(x, inference));
  demand(same_bits(inferred, third.forward(second.forward(first.forward(x)))), violations,
         "fused inference differs" + text);

  typename decltype(whole)::TrainingWorkspace all;
  typename decltype(first)::TrainingWorkspace one;
  typename decltype(second)::TrainingWorkspace two;
  typename decltype(third)::TrainingWorkspace three;
  auto const y = copy_of<float>(whole.forward_training(x, all, 7));
  demand(same_bits(
             y, third.forward_training(second.forward_training(first.forward_training(x, one, 7), two, 7), three, 7)),
         violations, "fused forward_training differs" + text);
  auto const dx = copy_of<float>(whole.backward(dy, all));
  demand(same_bits(dx, first.backward(second.backward(third.backward(dy, three), two), one)), violations,
         "fused backward differs" + text);
  auto parts = canonical<decltype(first)>(one.gradients());
  for (auto const& gradients :
       {canonical<decltype(second)>(two.gradients()), canonical<decltype(third)>(three.gradients())}) {
    parts.insert(parts.end(), gradients.begin(), gradients.end());
  }
  demand(same_bits(canonical<decltype(whole)>(all.gradients()), parts), violations, "fused gradients differ" + text);
}

/// The results of Net equal the reference's in double, within 8 eps sqrt(terms).
template <class Net, Shape in, class Backend>
void backend_law(char const* whose, Index batch, std::uint64_t seed, Violations& violations) {
  using Tried = Network<Net, in, DynamicBatch, Backend>;
  auto const made = pass(random_network<Tried>(seed), batch, seed);
  auto const exact = pass(random_network<Network<Net, in, DynamicBatch, Reference<double>>>(seed), batch, seed);
  Index terms = batch;
  for (Node const& node : Tried::Graph::nodes) terms = std::max(terms, node.shape.size());
  auto const compare = [&](auto const& values, std::span<double const> reference, char const* what) {
    double const by = excess(values, reference, static_cast<double>(terms));
    demand(by <= 1, violations,
           std::string{whose} + what + " is " + std::to_string(by) + " times the bound from the reference" +
               place<Tried>(batch));
  };
  compare(made.output, exact.output, "output");
  compare(made.input_gradient, exact.input_gradient, "input gradient");
  compare(made.gradients, exact.gradients, "gradient");
}

/// The losses, outputs and parameters after some steps of training.
template <class Network, Loss auto loss, SolverOptions options = SolverOptions{}>
std::vector<typename Network::T> trained(Index batch, std::uint64_t seed, int steps = 4) {
  using T = typename Network::T;
  auto network = random_network<Network>(seed);
  Solver<Network, loss, Sgd{.learning_rate = 0.02f, .momentum = 0.5f}, options> solver{network};
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

/// Training gives the same bits with and without a fused update and when repeated. If COLDPRESS_LAW_SHAPES is above 1,
/// it also gives the reference's results within the bound, which backend_law checks of gradients in any case.
template <class Net, Shape in, Loss auto loss>
void training_law(Index batch, std::uint64_t seed, Violations& violations) {
  using Fast = Network<Net, in>;
  int constexpr steps = 4;
  auto const fused = trained<Fast, loss>(batch, seed, steps);
  demand(same_bits(fused, trained<Fast, loss>(batch, seed, steps)), violations,
         "training is not repeatable" + place<Fast>(batch));
  demand(same_bits(fused, trained<Fast, loss, SolverOptions{.keep_gradients = true}>(batch, seed, steps)), violations,
         "the fused update differs" + place<Fast>(batch));
  if constexpr (COLDPRESS_LAW_SHAPES > 1) {
    auto const exact = trained<Network<Net, in, DynamicBatch, Reference<double>>, loss>(batch, seed, steps);
    Index terms = batch;
    for (Node const& node : Fast::Graph::nodes) terms = std::max(terms, node.shape.size());
    double const by = excess(fused, exact, static_cast<double>(terms)) / steps;
    demand(by <= 1, violations,
           "training is " + std::to_string(by) + " times the bound from the reference" + place<Fast>(batch));
  }
}

/// Which laws are checked: all, or those of the values alone: of gradients, of samples that are independent, of
/// training, and of the reference's results. The others are of how layers share memory and passes.
enum class Laws { all, of_values };

/// The laws on one sample shape, between other layers, with ten batch sizes: 1, small and random ones. What the layer
/// computes alone is the same by fusion_law. A new law is one more line here.
template <Laws which, Layer auto layer, Shape in>
void laws_at(std::uint64_t seed, Violations& violations) {
  static constexpr Linear before{in.size()};
  using Inside = Sequential<before, Reshape{in}, layer, Linear{3}>;
  Random random{seed};
  for (Index number = 0; number < 10; ++number, ++seed) {
    Index const batch = number < 4 ? number + 1 : random.integer(5, 40);
    if (number < 2) gradient_law<Inside, Shape{5}>(batch, seed, violations);
    if constexpr (is_by_sample(layer, Shapes{&in, 1})) {
      if (batch > 1) sample_law<Inside, Shape{5}>(batch, seed, violations);
    }
    backend_law<Inside, Shape{5}, DefaultBackend>("", batch, seed, violations);
    training_law<Inside, Shape{5}, MeanSquaredError{}>(batch, seed, violations);
    if constexpr (which == Laws::all) {
      shape_law<Inside, Shape{5}, DefaultBackend>(batch, seed, violations);
      fusion_law<layer, in>(batch, seed, violations);
    }
  }
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
  using Net = Graph<between<layer, shapes...>()>;
  static constexpr std::array<Shape, sizeof...(shapes)> inputs{shapes...};
  for (Index batch : {1, 2, 3, 17, 31}) {
    if (batch < 3) gradient_law<Net, Shape{5}>(batch, seed, violations);
    if constexpr (is_by_sample(layer, inputs)) {
      if (batch > 1) sample_law<Net, Shape{5}>(batch, seed, violations);
    }
    backend_law<Net, Shape{5}, DefaultBackend>("", batch, seed, violations);
    training_law<Net, Shape{5}, MeanSquaredError{}>(batch, seed, violations);
    if constexpr (which == Laws::all) shape_law<Net, Shape{5}, DefaultBackend>(batch, seed, violations);
    ++seed;
  }
}

template <Laws which, Layer auto layer, Shape... shapes>
Violations violations_of() {
  Violations found;
  if constexpr (!OneInput<std::remove_cvref_t<decltype(layer)>>) {
    laws_between<which, layer, shapes...>(400, found);
  } else if constexpr (sizeof...(shapes) > 0) {
    std::uint64_t seed = 300;
    (laws_at<which, layer, shapes>(seed += 50, found), ...);
  } else {
    laws_at<which, layer, Shape{3, 5, 7}>(200, found);
    if constexpr (COLDPRESS_LAW_SHAPES > 1) {
      constexpr bool pointwise = PointwiseLayer<std::remove_cvref_t<decltype(layer)>>;
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
/// are the shapes of its inputs.
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
