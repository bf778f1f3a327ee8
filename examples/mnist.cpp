// Learns to classify images of ten classes twice: as a C++ type, and from a config at run time. With the same seed and
// the same minibatches, both compute the same bits.
//
//   mnist --data DIR [--network linear|mlp|conv|lenet] [--config FILE] [--epochs N] [--seed N] [--report FILE]
//         [--at-least ACCURACY]
//
// DIR holds the four IDX files of MNIST or of Fashion-MNIST, plain or .gz; scripts/get-mnist.sh downloads them. The
// FILE of --config is a training config such as examples/configs/mnist-mlp.capnp.txt, of which the network, the loss
// and the solver are used; without it, they are made from the type. --report draws the learning curves as SVG. Fails
// if weights differ, or if the accuracy on the test set is below the one given.
// ctest: --data @DATA@/mnist-8k --config @SOURCE@/examples/configs/mnist-mlp.capnp.txt --at-least 0.93
// ctest lenet: --data @DATA@/mnist-8k --network lenet --config @SOURCE@/examples/configs/lenet.capnp.txt --at-least 0.97
// ctest conv: --data @DATA@/mnist-8k --network conv --config @SOURCE@/examples/configs/mnist-conv.capnp.txt --epochs 1
#include <coldpress/coldpress.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/data/chart.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace coldpress;

constexpr NegativeLogLikelihood objective{.num_classes = 10};
constexpr Sgd sgd{.learning_rate = 0.01f, .momentum = 0.9f};
constexpr Index batch_size = 64;

struct Options {
  std::string data, network = "mlp", config, report;
  Index epochs = 10;
  double at_least = 0;
  std::uint64_t seed = 1;
};

/// Share of the samples whose largest output is the one of their class. `forward` takes a minibatch.
template <class Forward>
double accuracy(data::Dataset const& dataset, Forward forward) {
  Index const classes = objective.num_classes, at_a_time = 256;
  Index right = 0;
  for (Index first = 0; first < dataset.size(); first += at_a_time) {
    Index const count = std::min(at_a_time, dataset.size() - first);
    std::span<float const> const scores = forward(dataset.samples_from(first, count));
    for (Index i = 0; i < count; ++i) {
      auto const row = scores.begin() + i * classes;
      right += std::max_element(row, row + classes) - row == static_cast<Index>(dataset.target(first + i)[0]);
    }
  }
  return static_cast<double>(right) / static_cast<double>(dataset.size());
}

/// The results of each epoch.
struct Curves {
  data::Curve loss, accuracy;
};

/// Works with any solver: static and dynamic ones take the same minibatches. `test` returns the test accuracy.
template <class AnySolver, class Test>
Curves train(std::string const& what, AnySolver& solver, data::Dataset const& pictures, Options const& options,
             Test test) {
  data::Batches batches{pictures, batch_size, options.seed};
  data::Progress progress{stdout, options.epochs * pictures.size()};
  progress.print(what);
  Curves curves{{what}, {what}};
  for (Index epoch = 1; epoch <= options.epochs; ++epoch) {
    std::string const label = "epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs);
    double sum = 0;
    Index done = 0;
    for (auto const& batch : batches.epoch()) {
      sum += double{solver.train_minibatch(batch.samples, batch.targets)} * static_cast<double>(batch.size);
      done += batch.size;
      progress.update(label, (epoch - 1) * pictures.size() + done, sum / static_cast<double>(done));
    }
    curves.loss.y.push_back(sum / static_cast<double>(done));
    curves.accuracy.y.push_back(test());
    char line[80];
    std::snprintf(line, sizeof line, "  epoch %2td   training loss %.4f   test accuracy %.4f", epoch,
                  curves.loss.y.back(), curves.accuracy.y.back());
    progress.print(line);
  }
  progress.finish();
  return curves;
}

dynamic::SolverConfig config_of_file(std::string const& path) {
  persist::Training training = persist::read_training(path);
  training.solver.network = std::move(training.network);
  training.solver.objective = std::move(training.loss);
  return training.solver;
}

/// All weights, one after another, of a network of either kind.
template <class AnyNetwork>
std::vector<float> weights_of(AnyNetwork const& net) {
  std::vector<float> all;
  for (auto const& weight : persist::model_of(net).weights)
    all.insert(all.end(), weight.values.begin(), weight.values.end());
  return all;
}

template <class Net>
bool run(Options const& options) {
  data::Dataset const pictures = data::open("mnist:" + options.data), unseen = data::open("mnist-test:" + options.data);
  std::printf("%td pictures to learn from, %td to be tested on\n\n", pictures.size(), unseen.size());

  Net net{options.seed};
  Solver<Net, objective, sgd> solver{net};
  auto config = options.config.empty() ? dynamic::to_solver_config(solver) : config_of_file(options.config);
  std::string const difference =
      config.network ? dynamic::difference(dynamic::to_config(net), *config.network) : "the config has no network";

  Curves const typed = train("A network that is a C++ type", solver, pictures, options,
                             [&] { return accuracy(unseen, [&](auto x) { return net.forward(x); }); });

  // Use the kernels for the instructions that this program was compiled for, so that sums are the same to the last bit.
  auto const backend = dynamic::Backend::like_static();
  auto again = dynamic::Solver::from_config(backend, std::move(config), Net::input_shape, options.seed);
  std::string const what = "A network from the config of " + (options.config.empty() ? "the type" : options.config);
  Curves const configured = train(what, again, pictures, options, [&] {
    return accuracy(unseen, [&](auto x) { return again.mut_network().predict(x); });
  });

  double const reached = typed.accuracy.y.back();
  std::printf("\nTest accuracy         %.4f as a type, %.4f from the config\n", reached, configured.accuracy.y.back());
  if (!options.report.empty()) {
    data::write_svg(options.report, {{"Training loss", "epoch", "mean over the epoch", {typed.loss, configured.loss}},
                                     {"Accuracy on the test set", "epoch", "", {typed.accuracy, configured.accuracy}}});
  }
  if (!difference.empty()) {
    std::printf("The config is another network, so the weights are not compared: %s\n", difference.c_str());
    return reached >= options.at_least;
  }
  auto const weights = weights_of(net), weights_again = weights_of(again.network());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    equal += std::memcmp(&weights[i], &weights_again[i], sizeof(float)) == 0;
  std::printf("Weights, bit for bit  %zu of %zu are equal\n", equal, weights.size());
  return equal == weights.size() && reached >= options.at_least;
}

// ---- The networks of Juice's example, and Caffe's LeNet

template <auto... layers>
using Classifier = Network<Sequential<layers..., Linear{10}, LogSoftmax{}>, Shape{28, 28}>;
constexpr Reshape image{{1, 28, 28}};
constexpr Pooling halve{.mode = PoolingMode::max, .filter_shape = 2, .stride = 2};
constexpr Convolution filters(Index count) { return {.num_output = count, .filter_shape = 5}; }

constexpr struct {
  char const* name;
  bool (*run)(Options const&);
} networks[]{
    {"linear", run<Classifier<>>},
    {"mlp", run<Classifier<Linear{128}, ReLU{}>>},
    {"conv", run<Classifier<image, filters(20), halve, Linear{500}, Sigmoid{}>>},
    {"lenet", run<Classifier<image, filters(20), halve, filters(50), halve, Linear{500}, ReLU{}>>},
};

int main(int argc, char** argv) {
  Options options;
  auto const* chosen = networks;
  try {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
      if (name == "--data")
        options.data = value;
      else if (name == "--network")
        options.network = value;
      else if (name == "--config")
        options.config = value;
      else if (name == "--report")
        options.report = value;
      else if (name == "--epochs" && std::stoi(value) > 0)
        options.epochs = std::stoi(value);
      else if (name == "--seed")
        options.seed = std::stoull(value);
      else if (name == "--at-least")
        options.at_least = std::stod(value);
      else
        throw std::invalid_argument{name};
    }
    if (options.data.empty()) throw std::invalid_argument{"--data"};
    chosen =
        std::find_if(chosen, std::end(networks), [&](auto const& network) { return network.name == options.network; });
    if (chosen == std::end(networks)) throw std::invalid_argument{"--network"};
  } catch (std::exception const&) {
    std::fprintf(stderr,
                 "usage: mnist --data DIR [--network linear|mlp|conv|lenet] [--config FILE] [--epochs N] [--seed N]\n"
                 "             [--report FILE] [--at-least ACCURACY]\n");
    return 2;
  }
  try {
    return chosen->run(options) ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "mnist: %s\n", error.what());
    return 1;
  }
}
