// A classifier whose hidden layers are first trained without labels, each as a denoising autoencoder on the code of the
// layers below it (Vincent et al. 2010), compared with one that starts from random weights. This is Mocha's example.
//
//   denoising --data DIR [--units N] [--pretrain EPOCHS] [--finetune EPOCHS]
//
// DIR holds the IDX files of MNIST; scripts/get-mnist.sh downloads them. Mocha has 1000 units in each hidden layer, 15
// epochs of pre-training for each, and 1000 epochs of fine-tuning, which are the defaults. Fails if an autoencoder does
// not learn, or if the pre-trained network classifies no better than guessing.
// ctest: --data @DATA@/mnist-8k --units 64 --pretrain 20 --finetune 15
#include <coldpress/dynamic.hpp>
#include <coldpress/train.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace coldpress;

struct Options {
  std::string data;
  Index units = 1000, pretrain = 15, finetune = 1000;
};

constexpr float masks[]{0.1f, 0.2f, 0.3f};  // the part of its inputs that each hidden layer must do without
constexpr int depth = std::size(masks);
constexpr std::uint64_t seed = 1;
constexpr Weight bias{.lr_mult = 2};  // Mocha's biases learn twice as fast

/// The layers that turn a picture into the code of its first `count` hidden layers.
dynamic::SequentialConfig encoder(Index units, int count) {
  dynamic::SequentialConfig layers;
  layers.add_input("picture", Shape{28, 28});
  layers.add_layer({"pixels", Flatten{}});
  for (int k = 1; k <= count; ++k) {
    layers.add_layer({"hidden" + std::to_string(k), Linear{.output_size = units, .weight = Xavier{}, .bias = bias}});
    layers.add_layer({"code" + std::to_string(k), Sigmoid{}});
  }
  return layers;
}

dynamic::LayerConfig classifier(Index units) {
  auto layers = encoder(units, depth);
  layers.add_layer({"classes", Linear{.output_size = 10, .weight = Xavier{}, .bias = bias}});
  layers.add_layer({"scores", LogSoftmax{}});
  return {"classifier", layers};
}

/// Hidden layer k restores its input from a part of it, with the same weights in both directions. No gradient reaches
/// the layers below, so they stay as they are.
dynamic::LayerConfig autoencoder(Index units, int k) {
  auto layers = encoder(units, k);
  auto const own = layers.layers.end() - 2;
  own[-1].outputs = {"clean"};
  own->params = {{.name = "shared"}};
  dynamic::LayerConfig mask{"mask", RandomMask{.probability = masks[k - 1]}};
  mask.propagate_down = {false};
  layers.layers.insert(own, mask);

  dynamic::LayerConfig decoder{"decoder", TiedLinear{.output_size = k == 1 ? 28 * 28 : units, .bias = bias}};
  decoder.params = {{.name = "shared"}, {.name = "decoder_bias"}};
  decoder.outputs = {"restored"};
  dynamic::LayerConfig loss{"loss", SquareLoss{}};
  loss.inputs = {"restored", "clean"};
  loss.propagate_down = {true, false};
  layers.add_layer(decoder).add_layer(loss);
  return {"autoencoder", layers};
}

/// Copies the weights that both networks have, by their names.
void copy_weights(dynamic::Layer const& from, dynamic::Layer& to) {
  auto const& names = from.learnable_weights_names();
  for (std::size_t i = 0; i < to.learnable_weights_names().size(); ++i) {
    auto const found = std::ranges::find(names, to.learnable_weights_names()[i]);
    if (found == names.end()) continue;
    auto const values = from.learnable_weights_data()[static_cast<std::size_t>(found - names.begin())].read();
    std::ranges::copy(values, to.learnable_weights_data()[i].write_only().begin());
  }
}

/// Trains hidden layer k of the network. Returns whether its autoencoder has learned something.
bool pretrain(dynamic::Backend const& cpu, dynamic::Layer& network, int k, data::Source const& pictures,
              Options const& options) {
  dynamic::SolverConfig const config{.network = autoencoder(options.units, k), .base_lr = 0.001f};
  auto solver = dynamic::Solver::from_config(cpu, config, {}, seed);
  copy_weights(network, solver.mut_network());
  train::Trainer trainer{
      solver, pictures, {.epochs = options.pretrain, .batch = 100, .seed = seed, .record_every = 10}};
  trainer.run();
  copy_weights(solver.network(), network);
  auto const& losses = trainer.statistics().find("training/loss")->values;
  std::printf("autoencoder %d: loss %.2f at first, %.2f at last\n", k, losses.front(), losses.back());
  return losses.back() < 0.9 * losses.front();
}

/// Trains the whole network and returns its accuracy on unseen pictures.
double finetune(char const* what, dynamic::Solver& solver, data::Source const& pictures, data::Source const& unseen,
                Options const& options) {
  train::Trainer trainer{solver, pictures, {.epochs = options.finetune, .batch = 100, .seed = seed}};
  trainer.every(train::epochs(std::max<Index>(1, options.finetune / 10)), [&](train::Trainer& now) {
    std::printf("%s, epoch %.0f: training loss %.4f, test accuracy %.4f\n", what, now.epochs_done(),
                *now.epoch_score().loss, *now.evaluate(unseen).accuracy);
  });
  trainer.run();
  return *trainer.evaluate(unseen).accuracy;
}

bool run(Options const& options) {
  auto const pictures = data::open_source("mnist:" + options.data),
             unseen = data::open_source("mnist-test:" + options.data);
  dynamic::SolverConfig const config{.network = classifier(options.units),
                                     .objective = dynamic::LayerConfig{"loss", NegativeLogLikelihood{10}},
                                     .base_lr = 0.1f};
  dynamic::Backend const cpu{"cpu", {.threads = 0}};
  auto pretrained = dynamic::Solver::from_config(cpu, config, {}, seed),
       random = dynamic::Solver::from_config(cpu, config, {}, seed);

  bool learned = true;
  for (int k = 1; k <= depth; ++k) learned &= pretrain(cpu, pretrained.mut_network(), k, *pictures, options);
  double const with = finetune("pre-trained", pretrained, *pictures, *unseen, options),
               without = finetune("random", random, *pictures, *unseen, options);
  std::printf("test accuracy: %.4f with pre-training, %.4f without\n", with, without);
  return learned && with > 0.2;
}

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
      Index* const number = name == "--units"      ? &options.units
                            : name == "--pretrain" ? &options.pretrain
                            : name == "--finetune" ? &options.finetune
                                                   : nullptr;
      if (!number && name != "--data") throw std::invalid_argument{name};
      if (number)
        *number = std::stoi(value);
      else
        options.data = value;
    }
    if (options.data.empty()) throw std::invalid_argument{"--data"};
    return run(options) ? 0 : 1;
  } catch (std::logic_error const&) {  // of the options
    std::fprintf(stderr, "usage: denoising --data DIR [--units N] [--pretrain EPOCHS] [--finetune EPOCHS]\n");
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "denoising: %s\n", error.what());
    return 1;
  }
}
