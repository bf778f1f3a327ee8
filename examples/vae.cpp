// Learns to draw digits: a variational autoencoder (Kingma and Welling 2014) with the layers of Mocha's example, which
// afterwards decodes random codes and shows them in one picture.
//
//   vae --data DIR [--epochs N] [--picture FILE]
//
// DIR holds the IDX files of MNIST; scripts/get-mnist.sh downloads them. By default there are 33 epochs, Mocha's 20,000
// steps, and FILE, a PNG, is digits.png. The learning rate is 0.002, because Mocha's 0.01 makes the divergence jump.
// Fails if the loss does not fall by a third, or if the picture has no contrast.
// ctest: --data @DATA@/mnist-8k --epochs 3
#include <coldpress/coldpress.hpp>
#include <coldpress/data/images.hpp>
#include <coldpress/train.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace coldpress;

constexpr Index latent = 50, hidden = 400, side = 28;
constexpr Linear linear(Index outputs) { return {.output_size = outputs, .weight = Gaussian{.deviation = 0.01f}}; }

/// The probability that each pixel is white. Its layers have names, by which their weights are found again.
constexpr auto decoder = graph([](auto code) {
  auto features = code | linear(hidden) | name("decoder_hidden") | TanH{};
  return features | linear(side * side) | name("decoder_pixels") | Sigmoid{};
});

/// The encoder computes mean and deviation of the code, which is drawn at random.
constexpr auto autoencoder = graph([](auto picture) {
  auto pixels = picture | Flatten{};
  auto features = pixels | linear(hidden) | TanH{};
  auto mean = features | linear(latent);
  auto deviation = features | linear(latent) | Exponential{};
  auto code = mean + deviation * source(RandomNormal{{latent}}, picture);
  auto made = code | decoder;
  apply(BinaryCrossEntropy{}, made, pixels) | name("reconstruction");
  apply(GaussianKL{}, mean, deviation) | name("divergence");
  return made;
});
using Autoencoder = Network<Graph<autoencoder>, Shape{side, side}>;
using Decoder = Network<Graph<decoder>, Shape{latent}>;

/// Takes over the decoder's weights from the autoencoder.
void load_decoder(Decoder& net, Autoencoder const& trained) {
  auto const weights = persist::model_of(trained).weights;
  persist::Model model = persist::model_of(net);
  for (auto& weight : model.weights) weight = *std::ranges::find(weights, weight.name, &persist::NamedTensor::name);
  persist::load_model(net, model);
}

/// Draws what the decoder makes of count * count codes from the standard normal distribution. Returns the contrast.
float draw(Decoder& net, Index count, std::string const& file) {
  std::mt19937 random{1};
  std::normal_distribution<float> normal;
  std::vector<float> codes(static_cast<std::size_t>(count * count * latent));
  std::ranges::generate(codes, [&] { return normal(random); });
  auto const made = net.forward(codes);

  std::vector<float> picture(made.values.size());
  auto to = picture.begin();
  for (Index y = 0; y < count * side; ++y) {  // a row of pixels goes through `count` digits
    for (Index x = 0; x < count; ++x) {
      auto const digit = made.sample(y / side * count + x);
      to = std::ranges::copy(digit.subspan(static_cast<std::size_t>(y % side * side), side), to).out;
    }
  }
  data::write_png(file, Shape{count * side, count * side}, picture);
  auto const [darkest, brightest] = std::ranges::minmax(picture);
  return brightest - darkest;
}

bool run(std::string const& folder, Index epochs, std::string const& file) {
  auto const pictures = data::open_source("mnist:" + folder);
  Autoencoder net{1};
  Solver<Autoencoder, OwnLosses{}, Adam{.learning_rate = 0.002f}> solver{net};
  train::Trainer trainer{solver, *pictures, {.epochs = epochs, .batch = 100, .seed = 1}};
  trainer.every(train::epochs(1), [&](train::Trainer& now) {
    std::printf("epoch %.0f: loss %.2f, of which reconstruction %.2f and divergence %.2f\n", now.epochs_done(),
                *now.epoch_score().loss, solver.statistic<"reconstruction">(), solver.statistic<"divergence">());
    solver.reset_statistics();
  });
  trainer.run();
  auto const& losses = trainer.statistics().find("training/loss")->values;

  Decoder drawing;
  load_decoder(drawing, net);
  float const contrast = draw(drawing, 10, file);
  std::printf("100 digits are in %s\n", file.c_str());
  return losses.back() < losses.front() * 2 / 3 && contrast > 0.5f;
}

int main(int argc, char** argv) {
  std::string folder, file = "digits.png";
  Index epochs = 33;
  try {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
      if (name == "--data")
        folder = value;
      else if (name == "--epochs")
        epochs = std::stoi(value);
      else if (name == "--picture")
        file = value;
      else
        throw std::invalid_argument{name};
    }
    if (folder.empty()) throw std::invalid_argument{"--data"};
    return run(folder, epochs, file) ? 0 : 1;
  } catch (std::logic_error const&) {  // of the options
    std::fprintf(stderr, "usage: vae --data DIR [--epochs N] [--picture FILE]\n");
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "vae: %s\n", error.what());
    return 1;
  }
}
