#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

namespace coldpress::train {
namespace {

/// Puts given values of a metric into the statistics, one per epoch, in place of a validation.
struct Script {
  std::vector<double> values;
  void operator()(Trainer& trainer) {
    auto const epoch = static_cast<std::size_t>(trainer.epochs_done()) - 1;
    trainer.statistics().add("validation/loss", trainer.iteration(), values.at(epoch));
  }
};

TEST_CASE("validation judges the network as it is") {
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 4, .batch = 16}};
  auto const& validation = trainer.every(epochs(2), Validation{*data.validation, "held out"});
  trainer.run();
  CHECK(trainer.statistics().find("held out/loss")->iterations == std::vector<std::uint64_t>{14, 28});
  data::Dataset const held_out = data::load(*data.validation);
  auto const y = net.net->forward(held_out.samples);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double const difference = static_cast<double>(y.values[i]) - static_cast<double>(held_out.targets[i]);
    sum += difference * difference;
  }
  CHECK(*validation.score().loss == Approx(sum / static_cast<double>(y.size())).epsilon(1e-6));
  CHECK(!validation.score().accuracy);
}

/// The loss that a network from a config has in its only step, with a rate of 0, and in a validation on the same data.
std::pair<double, double> trained_and_judged(dynamic::SequentialConfig const& layers, dynamic::LayerType const& loss,
                                             data::Dataset const& dataset) {
  auto solver = dynamic::Solver::from_config(
      dynamic::Backend{},
      {.network = dynamic::LayerConfig{"net", layers}, .objective = dynamic::LayerConfig{"loss", loss}, .base_lr = 0});
  auto const source = data::borrow(dataset);
  Trainer trainer{solver, *source, {.batch = dataset.size()}};
  auto const& validation = trainer.every(epochs(1), Validation{*source});
  trainer.run();
  return {trainer.loss(), *validation.score().loss};
}

TEST_CASE("a validation gives a loss the shape of the output, as the training does") {
  auto const check = [](Shape output, Shape targets, dynamic::LayerType const& loss, auto target) {
    data::Dataset dataset{.sample_shape = {3}, .target_shape = targets};
    for (int i = 0; i < 5 * 3; ++i) dataset.samples.push_back(std::sin(static_cast<float>(i)));
    for (Index i = 0; i < 5 * targets.size(); ++i) dataset.targets.push_back(static_cast<float>(target(i)));
    dynamic::SequentialConfig net;
    net.add_input("data", {3}).add_layer({"fc", Linear{.output_size = output.size()}});
    net.add_layer({"shape", Reshape{output}});
    auto const [trained, judged] = trained_and_judged(net, loss, dataset);
    INFO(dynamic::type_name(loss) << " of " << to_string(output));
    CHECK(judged == Approx(trained).epsilon(1e-5));
  };
  auto const wave = [](Index i) { return std::cos(static_cast<double>(i)); };
  auto const half = [](Index) { return 0.5; };
  auto const label = [](Index i) { return i % 4; };
  check({10, 2}, {10, 2}, SoftlabelSoftmax{.axis = -1}, half);
  check({4, 6}, {4, 6}, CosineSimilarityLoss{.axis = 1}, wave);
  check({64, 2}, {64, 2}, StftLoss{.fft_size = {32}, .hop_size = {8}, .window_size = {16}}, wave);
  check({16, 4}, {16, 1}, SoftmaxLoss{.axis = -1}, label);
  check({4, 3, 5}, {1, 3, 5}, SoftmaxLoss{}, label);
  check({4, 3, 5}, {3, 5}, FocalLoss{}, label);
  check({8, 5}, {3}, CTCLoss{.labels = 3}, [](Index i) { return 1 + i % 3; });
}

TEST_CASE("a validation sums the losses inside a network, as the training does") {
  constexpr auto net = graph([](auto x, auto label) {
    auto scores = x | Linear{2} | name("scores");
    apply(SoftmaxLoss{.loss_weight = 0.5f}, scores, label) | name("cost");
    apply(SoftmaxLoss{}, scores, label);
    apply(Accuracy{}, scores, label) | name("right");
    return scores;
  });
  using Judged = Network<Graph<net>, Inputs{Shape{2}, Shape{1}}>;
  data::Dataset dataset = spiral(20, 0);
  for (float& target : dataset.targets) target = target > 0.5f ? 1.0f : 0.0f;
  auto const source = data::borrow(dataset);
  Judged network{7};
  coldpress::Solver<Judged, OwnLosses{}, Sgd{.learning_rate = 0.1f}> typed{network};
  auto config = dynamic::to_solver_config(typed);
  auto solver = dynamic::Solver::from_config(dynamic::Backend::like_static(), config, {}, 7);
  auto const check = [&](Trainer& trainer) {
    Score const before = trainer.evaluate(*source);
    trainer.run();
    REQUIRE(before.loss);
    CHECK(*before.loss == Approx(trainer.loss()).epsilon(1e-5));
    REQUIRE(before.accuracy.has_value());
    CHECK(before.statistics == NamedValues{{"right", *before.accuracy}});
  };
  Trainer of_type{typed, *source, {.steps = 1, .batch = 20}}, of_config{solver, *source, {.steps = 1, .batch = 20}};
  check(of_type), check(of_config);
}

TEST_CASE("training stops when the metric has not improved, and ends with the best weights") {
  Task const data = task(40);
  TrainerOptions const options{.epochs = 10, .batch = 10};
  Typed net, best;
  Trainer trainer{*net.solver, *data.training, options};
  //                                          1  2    3     4    5    6
  trainer.every(epochs(1), Script{{3, 2, 2.5, 1.5, 1.5, 1.6, 1.4, 1, 1, 1}});
  auto const& stop = trainer.every(epochs(1), StopEarly{{.patience = 2}});
  trainer.run();
  CHECK(trainer.iteration() == 24);
  CHECK(trainer.stopped() == "validation/loss has not improved for 2 times, since iteration 16");
  CHECK(stop.best().value() == 1.5);
  Trainer until_best{*best.solver, *data.training, {.epochs = 4, .batch = 10}};
  until_best.run();
  CHECK(trainer.model() == until_best.model());
}

TEST_CASE("NaN is no improvement, and min_delta is what counts as one") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 10, .batch = 10}};
  trainer.every(epochs(1), Script{{3, std::nan(""), 2.9, 2.4, 1, 1, 1, 1, 1, 1}});
  trainer.every(epochs(1), StopEarly{{.patience = 3, .min_delta = 1, .restore_best = false}});
  trainer.run();
  CHECK(trainer.iteration() == 16);
}

TEST_CASE("the rate falls on a plateau, rests in its cooldown, and keeps above its bound") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 10, .batch = 10}};
  trainer.every(epochs(1), Script{{3, 3, 3, 3, 3, 3, 3, 2, 2, 2}});
  trainer.every(epochs(1), ReduceRate{{.factor = 0.5f, .patience = 2, .cooldown = 1, .min_rate = 0.04f}});
  std::vector<float> rates;
  trainer.every(epochs(1), [&](Trainer& of) { rates.push_back(of.solver().base_rate()); });
  trainer.run();
  // Keras' ReduceLROnPlateau with these numbers, from 0.2 on.
  CHECK(rates == std::vector<float>{0.2f, 0.2f, 0.1f, 0.1f, 0.1f, 0.05f, 0.05f, 0.05f, 0.05f, 0.04f});
}

TEST_CASE("Mocha's DecayOnValidation goes back to the best weights when the metric gets worse") {
  Task const data = task(40);
  Typed net, best;
  Trainer trainer{*net.solver, *data.training, {.epochs = 3, .batch = 10}};
  trainer.every(epochs(1), Script{{3, 2, 2.5}});
  trainer.every(epochs(1),
                ReduceRate{{.factor = 0.5f, .patience = 1, .min_delta = 0, .min_rate = 1e-8f, .reload = true}});
  trainer.run();
  CHECK(trainer.solver().base_rate() == 0.1f);
  CHECK(trainer.iteration() == 12);
  Trainer until_best{*best.solver, *data.training, {.epochs = 2, .batch = 10}};
  until_best.run();
  CHECK(trainer.model() == until_best.model());
  auto const state = trainer.checkpoint().optimizer_state;
  CHECK(state == until_best.checkpoint().optimizer_state);
}

TEST_CASE("averages of weights are what they say, validated and saved, and training goes on without them") {
  Task const data = task(40);
  Typed plain, net;
  std::vector<std::vector<float>> all;
  Trainer alone{*plain.solver, *data.training, {.epochs = 4, .batch = 10}};
  alone.every(steps(1), [&](Trainer& of) { all.push_back(of.model().weights[0].values); });
  alone.run();

  auto const check = [&](WeightAverage average, auto const& expected) {
    Typed other;
    Trainer trainer{*other.solver, *data.training, {.epochs = 4, .batch = 10, .average = average}};
    trainer.run();
    auto const averaged = trainer.model().weights[0].values;
    for (std::size_t e = 0; e < averaged.size(); ++e) CHECK(averaged[e] == Approx(expected(e)).margin(1e-6));
    CHECK(persist::model_of(*other.net) == persist::model_of(*plain.net));  // the training is the same
    auto const score = trainer.evaluate(*data.validation);
    CHECK(persist::model_of(*other.net) == persist::model_of(*plain.net));
    persist::load_model(*other.net, trainer.model());
    data::Dataset const held_out = data::load(*data.validation);
    auto const y = other.net->forward(held_out.samples);
    CHECK(*score.loss == Approx(train::detail::mean_loss(MeanSquaredError{}, Shape{1}, y, held_out.targets)));
  };
  check({.kind = WeightAverage::Kind::ema, .decay = 0.75f}, [&](std::size_t e) {
    double average = static_cast<double>(all[0][e]);
    for (auto const& weights : all) average = 0.75 * average + 0.25 * static_cast<double>(weights[e]);
    return average;
  });
  check({.kind = WeightAverage::Kind::swa, .from_epoch = 1}, [&](std::size_t e) {
    double sum = 0;
    for (std::size_t const step : {7, 11, 15}) sum += static_cast<double>(all[step][e]);
    return sum / 3;
  });
}

TEST_CASE("snapshots keep the last ones, and the best network is saved") {
  Task const data = task(40);
  TemporaryFolder const folder;
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 4, .batch = 10}};
  trainer.every(epochs(1), Script{{3, 1, 2, 1.5}});
  trainer.every(epochs(1), SaveBest{folder / "best.juice"});
  auto& snapshot = trainer.every(steps(3), Snapshot{folder / "run-{iteration}-{epoch}", 2});
  trainer.run();
  auto names = folder.names();
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"best.juice", "run-15-3", "run-16-4"});
  CHECK(snapshot.last() == folder / "run-16-4");
  CHECK(persist::read_checkpoint(snapshot.last()).iteration == 16);
  Typed best;
  Trainer until_best{*best.solver, *data.training, {.epochs = 2, .batch = 10}};
  until_best.run();
  CHECK(persist::read_model(folder / "best.juice").weights == until_best.model().weights);
}

TEST_CASE("labels are scored by accuracy, also for a loss of one's own") {
  data::Dataset const dataset{
      .sample_shape = {1}, .target_shape = {1}, .samples = {-2, -1, 1, 2}, .targets = {0, 0, 1, 1}};
  auto const source = data::borrow(dataset);
  using Classifier = Network<Sequential<Linear{2}, LogSoftmax{}>, Shape{1}>;
  Classifier net{1};
  coldpress::Solver<Classifier, NegativeLogLikelihood{2}, Sgd{.learning_rate = 0.5f}> solver{net};
  Trainer trainer{solver, *source, {.epochs = 50, .batch = 2}};
  auto const& validation = trainer.every(epochs(50), Validation{*source});
  trainer.run();
  CHECK(validation.score().accuracy == 1.0);
  CHECK(trainer.statistics().last("training/accuracy") == 1.0);
  double sum = 0;
  auto const y = net.forward(dataset.samples);
  for (std::size_t i = 0; i < 4; ++i) sum -= static_cast<double>(y.values[2 * i + (i < 2 ? 0 : 1)]);
  CHECK(*validation.score().loss == Approx(sum / 4).epsilon(1e-6));
}

}  // namespace
}  // namespace coldpress::train
