// The laws of networks, compiled once for all layers.
#include <coldpress/core/to_string.hpp>
#include <coldpress/layers/mean_squared_error.hpp>
#include <coldpress/testing/laws.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace coldpress::testing {

std::string place_of(Shape const& input, Index batch) {
  return " (in a network around the layer: sample " + to_string(input) + ", batch " + std::to_string(batch) + ")";
}

void demand(bool holds, Violations& violations, std::string const& sentence) {
  if (!holds && violations.size() < 20) violations.push_back(sentence);
}

void gradient_law(TestedNetwork<double>& network, Index batch, std::uint64_t seed, Violations& violations) {
  Random random{seed + 2};
  auto x = random.values<double>(batch * network.input.size());
  auto const dy = random.values<double>(batch * network.output.size());
  network.forward_training(x);
  auto const dx = network.backward(dy);
  if (dx.size() != x.size()) {
    return demand(
        false, violations,
        "no gradient reaches the input, which the laws need to examine a layer" + place_of(network.input, batch));
  }
  std::vector<std::vector<double>> gradients;
  for (std::size_t i = 0; i < network.weights.size(); ++i) gradients.push_back(network.gradient(i));

  // `set` is called after each change of a value.
  auto const compare = [&](std::vector<double>& values, std::vector<double> const& gradient, std::string const& of,
                           auto set) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const middle = values[i], step = 1e-6;
      auto const objective = [&](double shifted) {
        values[i] = shifted, set();
        double sum = 0;
        auto const y = network.forward_training(x);
        for (std::size_t j = 0; j < dy.size(); ++j) sum += dy[j] * y[j];
        return sum;
      };
      double const numeric = (objective(middle + step) - objective(middle - step)) / (2 * step);
      values[i] = middle, set();
      demand(std::abs(gradient[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric), violations,
             "gradient of " + of + ", value " + std::to_string(i) + ", is " + std::to_string(gradient[i]) +
                 ", but the central difference is " + std::to_string(numeric) + place_of(network.input, batch));
    }
  };
  compare(x, dx, "input", [] {});
  for (std::size_t i = 0; i < network.weights.size(); ++i) {
    if (network.weights[i].parameter.is_statistic()) continue;
    auto values = network.read(i);
    compare(values, gradients[i], "parameter " + network.weights[i].name, [&] { network.write(i, values); });
  }
}

void sample_law(TestedNetwork<double>& network, Index batch, std::uint64_t seed, Violations& violations) {
  Random random{seed + 3};
  auto const x = random.values<double>(batch * network.input.size()),
             dy = random.values<double>(batch * network.output.size());
  std::vector<double> made[2], gradients[2];  // of the whole, and of the parts
  auto const go = [&](int which, Index first, Index last) {
    auto const some = [&](std::vector<double> const& values, Shape const& shape) {
      return std::vector<double>(values.begin() + first * shape.size(), values.begin() + last * shape.size());
    };
    auto const y = network.forward_training(some(x, network.input), 7), dx = network.backward(some(dy, network.output)),
               of_parameters = network.gradients();
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
    for (std::size_t i = 0; i < of[0].size(); ++i) {
      demand(std::abs(of[0][i] - of[1][i]) <= bound * (1 + std::abs(of[0][i])), violations,
             sentence + place_of(network.input, batch));
    }
  };
  compare(made, 1e-12, "a sample depends on the others, and mixes_samples is not declared");
  compare(gradients, 1e-11, "gradients of parameters are no sums over samples, and mixes_samples is not declared");
}

void shape_law(TestedNetwork<float>& network, Index batch, std::uint64_t seed, Violations& violations) {
  auto const check = [&](bool holds, char const* sentence) {
    demand(holds, violations, sentence + place_of(network.input, batch));
  };
  auto const poison = [&](Shape const& shape) {
    return std::vector<float>(static_cast<std::size_t>((batch + 1) * shape.size()),
                              std::numeric_limits<float>::quiet_NaN());
  };
  auto const finite = [](std::vector<float> const& values) {
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  };
  auto const x = Random{seed}.values<float>(batch * network.input.size());
  auto const inferred = network.forward(x), trained = network.forward_training(x);
  network.forward(poison(network.input));
  network.forward_training(poison(network.input));
  network.backward(poison(network.output));
  check(static_cast<Index>(inferred.size()) == batch * network.output.size(), "wrong output size");
  check(same_bits(inferred, network.forward(x)), "forward reads what an earlier pass left");
  check(same_bits(trained, network.forward_training(x)), "forward_training reads what an earlier pass left");
  auto const dx = network.backward(Random{seed + 1}.values<float>(batch * network.output.size()));
  check(static_cast<Index>(dx.size()) == batch * network.input.size(), "wrong size of the input gradient");
  check(finite(dx), "an input gradient is not written");
  check(finite(network.gradients()), "a gradient is not written");
}

void fusion_law(Fusion const& fusion, Index batch, std::uint64_t seed, Violations& violations) {
  auto const& whole = fusion.whole;
  auto const& parts = fusion.parts;
  std::size_t from = 0;
  for (auto const& part : parts) {
    for (std::size_t i = 0; i < part->weights.size(); ++i) part->write(i, whole->read(from++));
  }
  Random random{seed};
  auto const x = random.values<float>(batch * whole->input.size()),
             dy = random.values<float>(batch * whole->output.size());
  auto const check = [&](std::vector<float> const& fused, std::vector<float> const& single, char const* what) {
    demand(same_bits(fused, single), violations, what + place_of(parts[1]->input, batch));
  };
  auto inferred = x, y = x, dx = dy;
  std::vector<float> gradients;
  for (auto const& part : parts) inferred = part->forward(inferred), y = part->forward_training(y, 7);
  for (int k = 2; k >= 0; --k) dx = parts[k]->backward(dx);
  for (auto const& part : parts) TestedNetwork<float>::append(gradients, part->gradients());
  check(whole->forward(x), inferred, "fused inference differs");
  check(whole->forward_training(x, 7), y, "fused forward_training differs");
  check(whole->backward(dy), dx, "fused backward differs");
  check(whole->gradients(), gradients, "fused gradients differ");
}

void backend_law(TestedNetwork<float>& tried, TestedNetwork<double>& reference, std::string const& whose, Index batch,
                 std::uint64_t seed, Violations& violations) {
  auto const made = pass(tried, batch, seed);
  auto const exact = pass(reference, batch, seed);
  auto const compare = [&](std::vector<float> const& values, std::vector<double> const& wanted, char const* what) {
    double const by = excess(values, wanted, static_cast<double>(std::max(batch, tried.largest)));
    demand(by <= 1, violations,
           whose + what + " is " + std::to_string(by) + " times the bound from the reference" +
               place_of(tried.input, batch));
  };
  compare(made.output, exact.output, "output");
  compare(made.input_gradient, exact.input_gradient, "input gradient");
  compare(made.gradients, exact.gradients, "gradient");
}

void training_law(TrainedNetwork const& trained, Shape const& input, Index batch, std::uint64_t seed,
                  Violations& violations) {
  auto const fused = trained(batch, seed, false);
  demand(same_bits(fused, trained(batch, seed, false)), violations,
         "training is not repeatable" + place_of(input, batch));
  demand(same_bits(fused, trained(batch, seed, true)), violations, "the fused update differs" + place_of(input, batch));
}

void exact_training_law(TrainedNetwork const& trained, TestedNetwork<double>& exact, Index batch, std::uint64_t seed,
                        Violations& violations) {
  MeanSquaredError const loss;
  Random random{seed};
  std::vector<std::vector<double>> velocities(exact.weights.size());
  std::vector<double> wanted;
  int constexpr steps = 4;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    auto const x = random.values<double>(batch * exact.input.size()),
               targets = random.values<double>(batch * exact.output.size()), y = exact.forward_training(x, step);
    std::vector<double> dy;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += loss.value(y[i], targets[i]), dy.push_back(loss.gradient(y[i], targets[i]));
    wanted.push_back(sum / static_cast<double>(batch));
    TestedNetwork<double>::append(wanted, y);
    exact.backward(dy);
    for (std::size_t w = 0; w < exact.weights.size(); ++w) {
      Parameter const& parameter = exact.weights[w].parameter;
      auto values = exact.read(w);
      auto const gradient = exact.gradient(w);  // of a statistic: what was observed
      auto& velocity = velocities[w];
      velocity.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (parameter.is_statistic()) {
          values[i] += double{parameter.average} * (gradient[i] - values[i]);
        } else {
          double const rate = double{law_rate} * double{parameter.lr_mult};
          velocity[i] = double{law_momentum} * velocity[i] + rate * gradient[i] / static_cast<double>(batch);
          values[i] -= velocity[i];
        }
      }
      exact.write(w, values);
    }
  }
  for (std::size_t w = 0; w < exact.weights.size(); ++w) TestedNetwork<double>::append(wanted, exact.read(w));
  auto const made = trained(batch, seed, false);
  double const by = excess(made, wanted, static_cast<double>(std::max(batch, exact.largest))) / steps;
  demand(by <= 1, violations,
         "training is " + std::to_string(by) + " times the bound from the reference" + place_of(exact.input, batch));
}

void check_laws(LayerUnderTest const& layer, std::span<Index const> batches, std::uint64_t seed,
                Violations& violations) {
  for (std::size_t number = 0; number < batches.size(); ++number, ++seed) {
    Index const batch = batches[number];
    auto const exact = layer.exact(seed);
    auto const fast = layer.fast(seed);
    if (number < 2) gradient_law(*layer.exact(seed), batch, seed, violations);
    if (layer.by_sample && batch > 1) sample_law(*layer.exact(seed), batch, seed, violations);
    backend_law(*fast, *exact, "", batch, seed, violations);
    training_law(layer.trained, fast->input, batch, seed, violations);
    exact_training_law(layer.trained, *layer.exact(seed), batch, seed, violations);
    if (layer.shapes) shape_law(*layer.fast(seed), batch, seed, violations);
    if (layer.fusion) fusion_law(layer.fusion(seed), batch, seed, violations);
  }
}

std::vector<Index> law_batches(std::uint64_t seed) {
  std::vector<Index> batches{1, 2, 3, 4};
  for (Random random{seed}; batches.size() < 10;) batches.push_back(random.integer(5, 40));
  return batches;
}

}  // namespace coldpress::testing
