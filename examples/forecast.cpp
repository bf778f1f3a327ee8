// Forecasts a chaotic series with a network that is a C++ type; saves it, loads it back as a dynamic network, and
// compares the two: they compute the same bits, and both are timed. No data are needed: the series is integrated here.
//
//   forecast [--output DIR] [--epochs N] [--seed N]      writes DIR/forecast.svg and DIR/forecast.juice
//
// ctest: --output . --epochs 3
#include <coldpress/coldpress.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/data/chart.hpp>
#include <coldpress/data/mackey_glass.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/typed/describe.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace coldpress;

// From the last 32 values of the series to the one 6 places after them.
constexpr Index window = 32, ahead = 6;
constexpr Index known_length = 50000, unseen_length = 10000;
constexpr Index training_batch = 64, inference_batch = 256;

using Forecaster = Network<Sequential<Linear{64}, TanH{}, Linear{64}, TanH{}, Linear{1}>, Shape{window}>;
constexpr Sgd sgd{.learning_rate = 0.03f, .momentum = 0.9f};
using Trainer = Solver<Forecaster, MeanSquaredError{}, sgd>;

// ---- The series

struct Scale {
  double mean, deviation;
};
Scale scale_of(std::span<float const> values) {
  auto const count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double const value : values) sum += value;
  for (double const value : values) squares += std::pow(value - sum / count, 2);
  return {sum / count, std::sqrt(squares / count)};
}

/// Root mean square of forecast - truth, in standard deviations of the truth: 0 is perfect, and 1 is no better than
/// always forecasting the mean.
double normalised_error(std::span<float const> forecast, std::span<float const> truth) {
  double squares = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) squares += std::pow(double{forecast[i]} - double{truth[i]}, 2);
  return std::sqrt(squares / static_cast<double>(truth.size())) / scale_of(truth).deviation;
}

/// The forecast that nothing changes: the last known value.
std::vector<float> persistence(data::Dataset const& samples) {
  std::vector<float> forecast;
  for (Index i = 0; i < samples.size(); ++i) forecast.push_back(samples.sample(i).back());
  return forecast;
}

// ---- Training and inference: the same for a static network and a dynamic one

/// Outputs for all samples; `forward` takes a minibatch of them.
template <class Forward>
std::vector<float> infer(data::Dataset const& dataset, Forward forward) {
  std::vector<float> outputs;
  outputs.reserve(dataset.targets.size());
  for (Index first = 0; first < dataset.size(); first += inference_batch) {
    std::span<float const> const y =
        forward(dataset.samples_from(first, std::min(inference_batch, dataset.size() - first)));
    outputs.insert(outputs.end(), y.begin(), y.end());
  }
  return outputs;
}

/// Trains for one epoch and returns its mean loss; `after_batch` receives the samples so far and their mean loss.
template <class AnySolver, class AfterBatch>
double train_epoch(AnySolver& solver, data::Batches& batches, AfterBatch after_batch) {
  double sum = 0;
  Index done = 0;
  for (auto const& batch : batches.epoch()) {
    sum += double{solver.train_minibatch(batch.samples, batch.targets)} * static_cast<double>(batch.size);
    done += batch.size;
    after_batch(done, sum / static_cast<double>(done));
  }
  return sum / static_cast<double>(done);
}

// ---- Comparing the two

/// How many values are the same, bit for bit.
std::size_t equal_bits(std::span<float const> a, std::span<float const> b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) equal += std::memcmp(&a[i], &b[i], sizeof(float)) == 0;
  return equal;
}

/// All weights, one after another, of a network of either kind.
template <class AnyNetwork>
std::vector<float> weights_of(AnyNetwork const& net) {
  std::vector<float> all;
  for (auto const& weight : persist::model_of(net).weights)
    all.insert(all.end(), weight.values.begin(), weight.values.end());
  return all;
}

/// Seconds of the fastest of several runs, which other programs on the machine disturbed least.
template <class Run>
double seconds_of(int runs, Run run) {
  using Clock = std::chrono::steady_clock;
  auto best = Clock::duration::max();
  for (int i = 0; i < runs; ++i) {
    auto const start = Clock::now();
    run();
    best = std::min(best, Clock::now() - start);
  }
  return std::chrono::duration<double>(best).count();
}

// ---- The program

struct Options {
  std::filesystem::path output = ".";
  int epochs = 100;
  std::uint64_t seed = 1;
};

struct Series {
  Scale scale;                  // of the known part, which is brought to mean 0 and deviation 1
  data::Dataset known, unseen;  // windows, and the values they lead to
};
Series make_series() {
  std::vector<float> values = data::series({}, known_length + unseen_length);
  Scale const scale = scale_of(std::span{values}.first(known_length));
  for (float& value : values) value = static_cast<float>((value - scale.mean) / scale.deviation);
  return {scale, data::windows(std::span{values}.first(known_length), window, ahead),
          data::windows(std::span{values}.subspan(known_length), window, ahead)};
}

/// Trains with a learning rate that falls to zero; returns the mean loss of each epoch.
std::vector<double> train(Forecaster& net, data::Dataset const& known, Options const& options) {
  Trainer solver{net};
  data::Batches batches{known, training_batch, options.seed};
  data::Progress progress{stdout, options.epochs * known.size()};
  std::vector<double> losses;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    solver.optimizer().learning_rate =
        sgd.learning_rate * (1 - static_cast<float>(epoch) / static_cast<float>(options.epochs));
    std::string const label = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs);
    losses.push_back(train_epoch(
        solver, batches, [&](Index done, double loss) { progress.update(label, epoch * known.size() + done, loss); }));
  }
  progress.finish();
  return losses;
}

void draw(std::string const& path, Series const& series, std::span<float const> forecast,
          std::vector<double> const& losses) {
  constexpr std::size_t shown = 300, every = 4;
  data::Curve truth{"truth"}, dots{"forecast, made " + std::to_string(ahead) + " earlier"}, error{"forecast - truth"},
      loss{"mean squared error"};
  for (std::size_t t = 0; t < shown; ++t) {
    double const real = series.unseen.targets[t], said = forecast[t];
    truth.y.push_back(series.scale.mean + series.scale.deviation * real);
    dots.y.push_back(t % every == 0 ? series.scale.mean + series.scale.deviation * said
                                    : std::nan(""));  // a value between gaps is a dot
    error.y.push_back(said - real);
  }
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    loss.x.push_back(static_cast<double>(epoch + 1));
    loss.y.push_back(std::log10(losses[epoch]));
  }
  data::write_svg(path, {{"Mackey-Glass series, never seen in training", "time", "x", {truth, dots}},
                         {"What the forecast is off by", "time", "standard deviations", {error}},
                         {"Loss of the training", "epoch", "log10", {loss}}});
}

bool run(Options const& options) {
  std::filesystem::create_directories(options.output);
  std::string const model = options.output / "forecast.juice", picture = options.output / "forecast.svg";
  Series const series = make_series();
  Forecaster net{options.seed};

  std::printf(
      "The Mackey-Glass series is chaotic: dx/dt = 0.2 x(t-17) / (1 + x(t-17)^10) - 0.1 x(t).\n"
      "A network learns to tell x(t+%td) from x(t-%td) ... x(t): %td values train it, the %td after them are kept "
      "unseen.\n\n",
      ahead, window - 1, known_length, unseen_length);
  std::printf("The network is a C++ type. What the compiler makes of it, for one sample:\n%s\n", describe(net).c_str());

  std::vector<double> const losses = train(net, series.known, options);

  auto const forecast = infer(series.unseen, [&](auto x) { return net.forward(x); });
  std::printf(
      "\nError on the unseen values (root mean square / standard deviation: 0 is perfect, 1 is a guess of the mean)\n"
      "  network                      %8.4f\n"
      "  persistence, x(t+%td) = x(t)   %8.4f\n",
      normalised_error(forecast, series.unseen.targets), ahead,
      normalised_error(persistence(series.unseen), series.unseen.targets));
  draw(picture, series, forecast, losses);

  // The file is read twice: into the type, which must match the network of the file, and into a dynamic network. The
  // dynamic one uses the instructions that this program was compiled for, so its sums are the same to the last bit.
  save(net, model);
  auto typed = load<Forecaster>(model);
  auto layer = dynamic::Layer::load(dynamic::Backend::like_static(), model);
  auto const forecast_typed = infer(series.unseen, [&](auto x) { return typed.forward(x); });
  auto const forecast_layer = infer(series.unseen, [&](auto x) { return layer.predict(x); });

  int const runs = 50;
  auto const inference_static =
      seconds_of(runs, [&] { infer(series.unseen, [&](auto x) { return typed.forward(x); }); });
  auto const inference_layer =
      seconds_of(runs, [&] { infer(series.unseen, [&](auto x) { return layer.predict(x); }); });

  // Both continue training, on the same minibatches.
  int const epochs = 3;
  Trainer static_solver{typed};
  dynamic::Solver dynamic_solver{std::move(layer), dynamic::to_solver_config(static_solver)};
  data::Batches static_batches{series.known, training_batch, options.seed},
      dynamic_batches{series.known, training_batch, options.seed};
  auto const nothing = [](Index, double) {};
  auto const training_static = seconds_of(epochs, [&] { train_epoch(static_solver, static_batches, nothing); });
  auto const training_layer = seconds_of(epochs, [&] { train_epoch(dynamic_solver, dynamic_batches, nothing); });
  auto const weights_typed = weights_of(typed), weights_layer = weights_of(dynamic_solver.network());

  std::size_t equal = 0, all = 0;
  auto const compare = [&](char const* what, std::span<float const> a, std::span<float const> b) {
    std::size_t const same = equal_bits(a, b);
    std::printf("  %-46s %6zu of %zu\n", what, same, b.size());
    equal += same, all += b.size();
  };
  std::printf("\nSaved, and loaded from the file; equal to the last bit are\n");
  compare("forecasts, loaded as the C++ type", forecast_typed, forecast);
  compare("forecasts, loaded with no type known", forecast_layer, forecast);
  compare("weights, when both have trained 3 more epochs", weights_layer, weights_typed);

  auto const rate = [](data::Dataset const& dataset, double seconds) {
    return static_cast<double>(dataset.size()) / seconds / 1e6;
  };
  std::printf(
      "\nMillion samples per second on one thread      C++ type   no type known\n"
      "  inference, %3td at a time                    %8.2f        %8.2f\n"
      "  training,  %3td at a time                    %8.2f        %8.2f\n",
      inference_batch, rate(series.unseen, inference_static), rate(series.unseen, inference_layer), training_batch,
      rate(series.known, training_static), rate(series.known, training_layer));
  std::printf("\nThe network is in %s, the curves are in %s\n", model.c_str(), picture.c_str());
  if (equal != all) std::fprintf(stderr, "forecast: the network type and its config differ; they must not\n");
  return equal == all;
}

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
      if (name == "--output" && !value.empty())
        options.output = value;
      else if (name == "--epochs" && std::stoi(value) > 0)
        options.epochs = std::stoi(value);
      else if (name == "--seed")
        options.seed = std::stoull(value);
      else
        throw std::invalid_argument{name};
    }
  } catch (std::exception const&) {
    std::fprintf(stderr, "usage: forecast [--output DIR] [--epochs N] [--seed N]\n");
    return 2;
  }
  try {
    return run(options) ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "forecast: %s\n", error.what());
    return 1;
  }
}
