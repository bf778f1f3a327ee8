// Four networks as functions, each trained twice, to the same bits: as a C++ type, and from a config at run time.
//
//   graphs --data DIR [--network residual|autoencoder|variational|dropout] [--config FILE] [--write FILE] [--epochs N]
//          [--samples N]
//
// DIR holds the IDX files of MNIST; scripts/get-mnist.sh downloads them. The FILE of --config is a training config such
// as examples/configs/residual.capnp.txt, of which the network and the solver are used; without it, they are made from
// the function, and --write writes them. Fails if weights differ, or if the loss does not fall.
// ctest: --data @DATA@/mnist-8k --config @SOURCE@/examples/configs/residual.capnp.txt
// ctest autoencoder: --data @DATA@/mnist-8k --network autoencoder --config @SOURCE@/examples/configs/autoencoder.capnp.txt
// ctest variational: --data @DATA@/mnist-8k --network variational
// ctest dropout: --data @DATA@/mnist-8k --network dropout
#include <coldpress/coldpress.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace coldpress;

// ---- The networks

// Twelve layers: a convolution, five residual blocks of two, and a Linear. Its loss is part of it.
constexpr auto residual = graph([](auto picture, auto label) {
  auto x = picture | Reshape{{1, 28, 28}} |
           Convolution{.num_output = 16, .filter_shape = 3, .stride = 2, .padding = 1} | ReLU{};
  for (int block = 0; block < 5; ++block) x = blocks::residual(x);
  auto scores = x | GlobalAveragePooling{} | Linear{10} | LogSoftmax{} | name("scores");
  apply(NegativeLogLikelihood{10}, scores, label) | name("loss");
  return scores;
});

// Learns to remove noise; the decoder shares the encoder's weights (Vincent et al. 2010, and Mocha's example).
constexpr auto autoencoder = graph([](auto picture) {
  auto clean = picture | Flatten{};
  auto hidden = clean | RandomMask{.probability = 0.3f} | Linear{100} | name("encoder");
  auto code = hidden | Sigmoid{} | name("code");
  auto made = code | tied(hidden) | name("decoder");
  apply(MeanSquaredError{.loss_weight = 0.5f}, made, clean) | name("loss");
  return outputs(made, code);
});

// The code is drawn at random; its mean and deviation are computed (Kingma and Welling 2014, and Mocha's example).
constexpr auto variational = graph([](auto picture) {
  auto clean = picture | Flatten{};
  auto hidden = clean | Linear{128} | ReLU{};
  auto mean = hidden | Linear{16};
  auto deviation = hidden | Linear{16} | Softplus{} | Power{.shift = 1e-4f};
  auto code = mean + deviation * source(RandomNormal{{16}}, picture);
  auto made = code | Linear{128} | ReLU{} | Linear{784} | Sigmoid{} | name("made");
  apply(MeanSquaredError{}, made, clean) | name("reconstruction");
  apply(GaussianKL{}, mean, deviation) | name("encoder");
  return outputs(made, mean | name("code"));
});

// Mocha's MNIST network with Dropout and bounded weights (Srivastava et al. 2014).
constexpr Weight small = Gaussian{.deviation = 0.01f};
constexpr Weight bounded{.filler = Gaussian{.deviation = 0.01f}, .max_norm = {.norm = 4.5f}};
constexpr auto dropout = graph([](auto picture, auto label) {
  auto x = picture | Flatten{} | Dropout{.probability = 0.2f};
  x = x | Linear{.output_size = 1200, .weight = small} | ReLU{} | Dropout{.probability = 0.5f};
  x = x | Linear{.output_size = 1200, .weight = bounded} | ReLU{} | Dropout{.probability = 0.5f};
  auto scores =
      x | Linear{.output_size = 10, .weight = {.filler = Constant{0}, .max_norm = {.norm = 4.5f}}} | LogSoftmax{};
  apply(NegativeLogLikelihood{10}, scores, label) | name("loss");
  return scores;
});

// ---- Training

struct Options {
  std::string data, network = "residual", config, write;
  Index epochs = 1, samples = 0;
};

template <class AnyNetwork>
std::vector<float> weights_of(AnyNetwork const& net) {
  std::vector<float> all;
  for (auto const& weight : persist::model_of(net).weights)
    all.insert(all.end(), weight.values.begin(), weight.values.end());
  return all;
}

/// Calls step(samples, targets) for every minibatch; returns the mean loss of the first and of the last ones.
template <class Step>
bool train(char const* what, data::Dataset const& pictures, Options const& options, Step step) {
  data::Batches batches{pictures, 50, 1};
  double first = 0, last = 0;
  Index const steps = (options.samples > 0 ? std::min(options.samples, pictures.size()) : pictures.size()) / 50;
  Index const all = options.epochs * steps;
  for (Index done = 0; done < all; ++done) {
    auto const batch = batches.next();
    double const loss = static_cast<double>(step(batch.samples, batch.targets));
    (done < 10 ? first : last) += done < 10 || done >= all - 10 ? loss / 10 : 0;
  }
  std::printf("%-14s loss %.4f at first, %.4f at last\n", what, first, last);
  return last < 0.9 * first;
}

template <auto function, int inputs, auto optimizer>
bool run(Options const& options) {
  constexpr Shape picture{28, 28}, label{1};
  constexpr Inputs in = inputs == 1 ? Inputs{picture} : Inputs{picture, label};
  using Net = Network<Graph<function>, in>;
  data::Dataset const pictures = data::open("mnist:" + options.data);

  Net net{1};
  Solver<Net, OwnLosses{}, optimizer> solver{net};
  bool falls = train("As a type", pictures, options, [&](auto samples, auto targets) {
    if constexpr (inputs == 1) {
      return solver.train_minibatch(samples);
    } else {
      return solver.train_minibatch(std::tie(samples, targets));
    }
  });

  dynamic::SolverConfig config = dynamic::to_solver_config(solver);
  if (!options.write.empty())
    persist::write_training(options.write, {.network = *config.network, .solver = config, .batch = 50, .seed = 1});
  if (!options.config.empty()) {
    persist::Training const training = persist::read_training(options.config);
    config = training.solver;
    config.network = training.network;
    std::string const difference = dynamic::difference(*config.network, dynamic::to_config(net));
    if (!difference.empty()) throw ConfigError{options.config + " is another network: " + difference};
  }
  auto again = dynamic::Solver::from_config(dynamic::Backend::like_static(), config, {}, 1);
  falls = train("From a config", pictures, options,
                [&](auto samples, auto targets) {
                  dynamic::Values const all[] = {samples, targets};
                  return again.train_minibatch(std::span{all}.first(inputs));
                }) &&
          falls;

  auto const weights = weights_of(net), others = weights_of(again.network());
  bool const same = weights.size() == others.size() &&
                    std::memcmp(weights.data(), others.data(), weights.size() * sizeof(float)) == 0;
  std::printf("%zu weights, %s\n", weights.size(), same ? "equal to the last bit" : "which differ");
  return same && falls;
}

int main(int argc, char** argv) {
  constexpr Sgd sgd{.learning_rate = 0.05f, .momentum = 0.9f};
  constexpr struct {
    char const* name;
    bool (*run)(Options const&);
  } networks[]{{"residual", run<residual, 2, sgd>},
               {"autoencoder", run<autoencoder, 1, Sgd{.learning_rate = 0.01f, .momentum = 0.9f}>},
               {"variational", run<variational, 1, Adam{.learning_rate = 0.002f}>},
               {"dropout", run<dropout, 2, Sgd{.learning_rate = 0.1f, .momentum = 0.5f}>}};
  Options options;
  try {
    for (int i = 1; i + 1 < argc; i += 2) {
      std::string const option = argv[i], value = argv[i + 1];
      if (option == "--data")
        options.data = value;
      else if (option == "--network")
        options.network = value;
      else if (option == "--config")
        options.config = value;
      else if (option == "--write")
        options.write = value;
      else if (option == "--epochs")
        options.epochs = std::stoi(value);
      else if (option == "--samples")
        options.samples = std::stoi(value);
      else
        throw std::invalid_argument{option};
    }
    if (options.data.empty() || argc % 2 == 0 || options.epochs < 1) throw std::invalid_argument{"--data"};
  } catch (std::exception const&) {
    std::fprintf(
        stderr,
        "usage: graphs --data DIR [--network NAME] [--config FILE] [--write FILE] [--epochs N] [--samples N]\n");
    return 2;
  }
  try {
    for (auto const& network : networks) {
      if (network.name == options.network) return network.run(options) ? 0 : 1;
    }
    throw ConfigError{"there is no network '" + options.network + "'"};
  } catch (std::exception const& error) {
    std::fprintf(stderr, "graphs: %s\n", error.what());
    return 1;
  }
}
