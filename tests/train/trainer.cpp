#include <coldpress/coldpress.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

namespace coldpress::train {
namespace {

struct Saver {
  std::vector<std::string>* calls;
  static constexpr bool saves = true;
  void operator()(Trainer& of) { calls->push_back("save " + std::to_string(of.iteration())); }
};

std::vector<std::string> called_in(Trainer& trainer, std::vector<std::string>& calls) {
  trainer.run();
  return calls;
}

TEST_CASE("a trainer takes the steps of a loop by hand, for a type and for a config") {
  Task const data = task(100);
  Typed by_hand;
  data::Batches batches{data::shuffled(*data.training, 5), 16};
  Mean loss;
  for (int epoch = 0; epoch < 3; ++epoch) {
    loss = {};
    for (auto const& batch : batches.epoch())
      loss.add(static_cast<double>(by_hand.solver->train_minibatch(batch.samples, batch.targets)), batch.size);
  }
  auto const weights = persist::model_of(*by_hand.net).weights;

  Typed typed;
  Trainer of_type{*typed.solver, *data.training, {.epochs = 3, .batch = 16, .seed = 5}};
  of_type.run();
  CHECK(of_type.model().weights == weights);
  CHECK(of_type.epoch_score().loss == loss.value());
  CHECK(of_type.statistics().last("training/loss_epoch") == loss.value());
  CHECK(of_type.iteration() == 21);
  CHECK(of_type.samples_done() == 300);
  CHECK(of_type.epochs_done() == 3);

  Dynamic config;
  Trainer of_config{*config.solver, *data.training, {.epochs = 3, .batch = 16, .seed = 5, .prefetch = 0}};
  of_config.run();
  CHECK(of_config.model().weights == weights);
}

TEST_CASE("a network is trained on crops of the samples") {
  data::Dataset dataset{.sample_shape = {1, 5, 5}, .target_shape = {1}};
  for (Index i = 0; i < 20 * 25; ++i) dataset.samples.push_back(std::sin(static_cast<float>(i)));
  for (Index i = 0; i < 20; ++i) dataset.targets.push_back(std::cos(static_cast<float>(i)));
  auto const source = data::own(std::move(dataset));
  using Cropped = Network<Sequential<Linear{1}>, Shape{1, 3, 3}>;
  Cropped net{7};
  coldpress::Solver<Cropped, MeanSquaredError{}, Sgd{.learning_rate = 0.1f}> solver{net};
  Trainer trainer{solver, *source, {.epochs = 2, .batch = 8, .transforms = {data::Crop{{3}}}}};
  trainer.run();
  CHECK(trainer.iteration() == 6);
  CHECK(trainer.evaluate(*data::transformed(*source, trainer.options().transforms)).loss);
  CHECK_THROWS_AS((Trainer{solver, *source, {.transforms = {data::Crop{{4}}}}}), ShapeError);
  CHECK_THROWS_AS((Trainer{solver, *source}), ShapeError);
}

TEST_CASE("callbacks are called when they are due, those that save last, and at the end") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 10}};
  std::vector<std::string> calls;
  trainer.every(steps(4), Saver{&calls});
  trainer.every(steps(3), [&](Trainer& of) { calls.push_back("three " + std::to_string(of.iteration())); });
  trainer.every(epochs(1), [&](Trainer& of) { calls.push_back("epoch " + std::to_string(of.iteration())); });
  trainer.every(end(), [&](Trainer& of) { calls.push_back(of.ended() ? "end" : "not the end"); });
  CHECK(called_in(trainer, calls) ==
        std::vector<std::string>{"three 3", "epoch 4", "save 4", "three 6", "epoch 8", "save 8", "end"});
}

TEST_CASE("a callback stops the run, changes the rate, or throws, and the run goes on as if it had not") {
  Task const data = task(100);
  TrainerOptions const options{.epochs = 3, .batch = 16};
  Typed plain, halting;
  Trainer expected{*plain.solver, *data.training, options};
  expected.run();
  Trainer trainer{*halting.solver, *data.training, options};
  trainer.every(steps(5), [](Trainer& of) { of.stop("five more"); });
  trainer.every(steps(8), [](Trainer&) { throw FileError{"full"}; });
  trainer.run();
  CHECK(trainer.iteration() == 5);
  CHECK(trainer.stopped() == "five more");
  CHECK_THROWS_AS(trainer.run(), FileError);
  CHECK(trainer.iteration() == 8);
  while (trainer.iteration() < 21) {
    try {
      trainer.run();
    } catch (FileError const&) {
    }
  }
  CHECK(trainer.model() == expected.model());

  Typed slower;
  Trainer changes{*slower.solver, *data.training, options};
  changes.every(steps(7), [](Trainer& of) { of.solver().set_base_rate(0.5f * of.solver().base_rate()); });
  changes.run();
  CHECK(changes.solver().learning_rate() == 0.025f);
  CHECK(slower.solver->optimizer().learning_rate == 0.025f);
}

TEST_CASE("data that cannot be read ends the run between two steps, and it can go on") {
  struct Breaking final : data::Source {
    explicit Breaking(data::Source const& from) : Source(from.description()), source(from) {}
    struct Reading final : Reader {
      explicit Reading(Breaking const& of) : owner(of), reader(of.source.reader()) {}
      void read(Index first, Index count, float* samples, float* targets) override {
        if (++owner.reads == 33) throw FileError{"gone"};
        reader->read(first, count, samples, targets);
      }
      Breaking const& owner;
      std::unique_ptr<Reader> reader;
    };
    std::unique_ptr<Reader> reader() const override { return std::make_unique<Reading>(*this); }
    data::Source const& source;
    mutable int reads = 0;
  };
  Task const data = task(100);
  Breaking const breaking{*data.training};
  Typed plain, net;
  Trainer expected{*plain.solver, *data.training, {.epochs = 2, .batch = 10}};
  expected.run();
  Trainer trainer{*net.solver, breaking, {.epochs = 2, .batch = 10}};
  CHECK_THROWS_AS(trainer.run(), FileError);
  CHECK(trainer.iteration() == 3);
  trainer.run();
  CHECK(trainer.model() == expected.model());
}

TEST_CASE("samples whose label the loss ignores count in no accuracy") {
  data::Dataset const dataset{
      .sample_shape = {2}, .target_shape = {1}, .samples = {1, 0, 0, 1, 1, 1, 9, 9}, .targets = {0, 1, -100, -100}};
  auto const source = data::borrow(dataset);
  using Classifier = Network<Sequential<Linear{2}>, Shape{2}>;
  Classifier net{1};
  coldpress::Solver<Classifier, SoftmaxLoss{}, Sgd{.learning_rate = 0.5f}> solver{net};
  Trainer trainer{solver, *source, {.epochs = 30, .batch = 2}};
  trainer.run();
  CHECK(trainer.statistics().last("training/accuracy") == 1.0);
  CHECK(trainer.evaluate(*source).accuracy == 1.0);
  data::Dataset none = dataset;
  none.targets = {-100, -100, -100, -100};
  auto const score = trainer.evaluate(*data::borrow(none));
  CHECK(score.loss == 0.0);
  CHECK(!score.accuracy);
}

TEST_CASE("transforms are completed by the data, applied to what is judged, and saved with the classes") {
  data::Dataset const dataset{.sample_shape = {2},
                              .target_shape = {1},
                              .samples = {99, 0, 101, 0, 99, 1, 101, 1},
                              .targets = {0, 1, 0, 1},
                              .classes = {"left", "right"}};
  auto const source = data::borrow(dataset);
  using Classifier = Network<Sequential<Linear{2}, Softmax{}>, Shape{2}>;
  Classifier net{1};
  coldpress::Solver<Classifier, MeanSquaredError{}, Sgd{.learning_rate = 0.5f}> solver{net};
  data::Transforms const transforms{data::SubtractMean{.per = data::Per::value}, data::OneHot{}};
  Trainer trainer{solver, *source, {.epochs = 60, .batch = 2, .transforms = transforms}};
  trainer.run();
  auto const model = trainer.model();
  CHECK(std::get<data::SubtractMean>(model.transforms[0]).mean == std::vector<float>{100, 0.5f});
  CHECK(std::get<data::OneHot>(model.transforms[1]).classes == 2);
  CHECK(model.classes == dataset.classes);
  CHECK(trainer.checkpoint().model.transforms == model.transforms);
  CHECK(trainer.evaluate(*source).accuracy == 1.0);
  CHECK(trainer.statistics().last("training/accuracy") == 1.0);
  CHECK(net.forward(std::vector{-1.0f, 0.5f})[0] > 0.9f);  // what the first sample is for the network

  data::Dataset other = dataset;
  other.classes = {"right", "left"};
  auto const exchanged = data::borrow(other);
  CHECK_THROWS_AS(trainer.evaluate(*exchanged), MismatchError);
  Classifier another{1};
  coldpress::Solver<Classifier, MeanSquaredError{}, Sgd{.learning_rate = 0.5f}> second{another};
  Trainer without{second, *source, {.batch = 2, .transforms = {data::OneHot{}}}};
  CHECK_THROWS_AS(without.resume(trainer.checkpoint()), MismatchError);
}

TEST_CASE("a step that throws is tried again, with its minibatch") {
  Task const data = task(40);
  data::Dataset broken = data::load(*data.training);
  broken.samples[5] = std::nanf("");
  auto const source = data::borrow(broken);
  Typed net;
  Trainer trainer{*net.solver, *source, {.epochs = 2, .batch = 10}};
  CHECK_THROWS_AS(trainer.run(), DataError);
  auto const stuck = trainer.samples_done();
  CHECK_THROWS_AS(trainer.run(), DataError);
  CHECK(trainer.samples_done() == stuck);
  CHECK(trainer.iteration() == static_cast<std::uint64_t>(stuck / 10));
  broken.samples[5] = 0;
  trainer.run();
  CHECK(trainer.iteration() == 8);
}

TEST_CASE("callbacks cannot be added in a run, and names are given once") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.batch = 10}};
  trainer.every(epochs(1), Validation{*data.validation});
  CHECK_THROWS_AS(trainer.every(epochs(1), Validation{*data.validation}), ConfigError);
  trainer.every(steps(1), [](Trainer& of) { of.every(steps(1), [](Trainer&) {}); });
  CHECK_THROWS_AS(trainer.run(), ConfigError);
}

TEST_CASE("mixup refuses labels before the first step") {
  data::Dataset const dataset{.sample_shape = {1}, .target_shape = {1}, .samples = {-1, 1}, .targets = {0, 1}};
  auto const source = data::borrow(dataset);
  Network<Sequential<Linear{2}, LogSoftmax{}>, Shape{1}> net{1};
  coldpress::Solver<decltype(net), NegativeLogLikelihood{2}> solver{net};
  CHECK_THROWS_AS((Trainer{solver, *source, {.transforms = {data::Mixup{}}}}), ConfigError);
}

TEST_CASE("samples of another order than the network's are refused with both shapes") {
  using Images = Network<Sequential<Convolution{2, 3}, Linear{1}>, Shape{3, 8, 8}>;
  auto const with_shape = [](Shape shape) {
    data::Dataset dataset{.sample_shape = shape, .target_shape = {1}};
    dataset.samples.resize(static_cast<std::size_t>(2 * shape.size()));
    dataset.targets.resize(2);
    return data::own(std::move(dataset));
  };
  Images net{1};
  coldpress::Solver<Images, MeanSquaredError{}, Sgd{}> solver{net};
  auto config = dynamic::Solver::from_config(dynamic::Backend{}, dynamic::to_solver_config(solver), {}, 7);
  for (Shape const& fits : {Shape{3, 8, 8}, Shape{1, 3, 8, 8}, Shape{192}, Shape{1, 192}}) {
    auto const source = with_shape(fits);
    Trainer{solver, *source}.run();
    Trainer{config, *source}.run();
  }
  for (Shape const& other : {Shape{8, 8, 3}, Shape{8, 3, 8}, Shape{24, 8}, Shape{3, 8, 9}}) {
    auto const source = with_shape(other);
    INFO(to_string(other));
    std::string const expected = "the samples have shape " + to_string(other) + ", but the network expects {3, 8, 8}";
    CHECK(contains(message<ShapeError>([&] { Trainer{solver, *source}; }), expected));
    CHECK(contains(message<ShapeError>([&] { Trainer{config, *source}; }), expected));
  }
}

TEST_CASE("options and callbacks that make no sense are refused") {
  Task const data = task(40);
  Typed net;
  CHECK_THROWS_AS((Trainer{*net.solver, *data.training, {.epochs = 0}}), ConfigError);
  CHECK_THROWS_AS((Trainer{*net.solver, *data.training, {.batch = 0}}), ConfigError);
  CHECK_THROWS_AS((Trainer{*net.solver, *data.training, {.average = {.kind = WeightAverage::Kind::ema, .decay = 1}}}),
                  ConfigError);
  CHECK_THROWS_AS(steps(0), ConfigError);
  CHECK_THROWS_AS(epochs(-1), ConfigError);
  CHECK_THROWS_AS(seconds(0), ConfigError);
  CHECK_THROWS_AS((StopEarly{{.patience = 0}}), ConfigError);
  CHECK_THROWS_AS((ReduceRate{{.factor = 1}}), ConfigError);
  Trainer trainer{*net.solver, *data.training};
  trainer.every(epochs(1), StopEarly{});
  CHECK_THROWS_AS(trainer.every(epochs(1), StopEarly{}), ConfigError);
  CHECK_THROWS_AS(trainer.run(), ConfigError);  // there is no validation/loss to watch
}

TEST_CASE("a long run records about as many losses as a short one") {
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 500, .batch = 10}};
  trainer.run();
  CHECK(trainer.statistics().find("training/loss")->values.size() <= 417);
}

}  // namespace
}  // namespace coldpress::train
