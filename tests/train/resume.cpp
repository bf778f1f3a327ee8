// 2N steps are N steps, a checkpoint in a file, a new trainer, and N steps, bit for bit: weights, optimizer,
// statistics, and everything that callbacks remember.
#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

namespace coldpress::train {
namespace {

constexpr Index size = 100, batch = 16;  // 7 steps per epoch

/// A training in which everything acts: the metric gets worse, since the rate is too large for the held-out data.
struct Run {
  explicit Run(auto& solver, Task const& task, TrainerOptions options)
      : trainer{solver, *task.training, options},
        validation{trainer.every(epochs(1), Validation{*task.validation})},
        stop{trainer.every(epochs(1), StopEarly{{.patience = 12}})},
        reduce{trainer.every(epochs(1), ReduceRate{{.factor = 0.5f, .patience = 2, .cooldown = 1, .reload = true}})} {}
  Trainer trainer;
  Validation& validation;
  StopEarly& stop;
  ReduceRate& reduce;
};

template <class Make>
void check_resume(Make const& make, WeightAverage average, std::uint64_t half) {
  CAPTURE(half);
  TemporaryFolder const folder;
  Task const task = noisy_task(size);
  TrainerOptions const options{.epochs = 14, .batch = batch, .seed = 3, .average = average, .record_every = 5};

  auto whole = make();
  Run all{*whole.solver, task, options};
  all.trainer.run();

  auto first = make();
  TrainerOptions stopped = options;
  stopped.steps = half;
  Run start{*first.solver, task, stopped};
  start.trainer.every(end(), Snapshot{folder / "run"});
  start.trainer.run();
  REQUIRE(start.trainer.iteration() == half);

  auto second = make();
  Run rest{*second.solver, task, options};
  rest.trainer.resume(persist::read_checkpoint(folder / "run"));
  CHECK(rest.trainer.iteration() == half);
  rest.trainer.run();

  CHECK(all.reduce.reductions() > 1);
  CHECK(rest.reduce.reductions() == all.reduce.reductions());
  CHECK(rest.trainer.statistics().all() == all.trainer.statistics().all());
  CHECK(rest.trainer.checkpoint() == all.trainer.checkpoint());
  CHECK(rest.trainer.model() == all.trainer.model());
}

void check_all(auto const& make) {
  for (std::uint64_t const half : {7, 10, 34, 35, 60}) {
    check_resume(make, {}, half);
    check_resume(make, {.kind = WeightAverage::Kind::ema, .decay = 0.9f}, half);
    check_resume(make, {.kind = WeightAverage::Kind::swa, .from_epoch = 3}, half);
  }
}

TEST_CASE("a trainer of a network type resumes bit for bit") {
  check_all([] { return Typed{}; });
}
TEST_CASE("a trainer of a config resumes bit for bit") {
  check_all([] { return Dynamic{}; });
}

TEST_CASE("a checkpoint of another run is refused, and nothing has changed") {
  Task const task = noisy_task(size);
  auto const other_run = [&](TrainerOptions options) {
    Typed net;
    Trainer trainer{*net.solver, *task.training, options};
    trainer.run();
    return trainer.checkpoint();
  };
  Typed net;
  Trainer trainer{*net.solver, *task.training, {.batch = batch}};
  auto& stop = trainer.every(epochs(1), StopEarly{});
  auto const before = trainer.checkpoint();
  CHECK_THROWS_AS(trainer.resume(other_run({.batch = 10})), MismatchError);
  CHECK_THROWS_AS(trainer.resume(other_run({.batch = batch, .seed = 1})), MismatchError);
  auto checkpoint = other_run({.batch = batch});
  checkpoint.position = 100;
  CHECK_THROWS_AS(trainer.resume(checkpoint), MismatchError);
  for (double const number : {-1.0, 0.5, 1e300, std::nan("")}) {
    checkpoint = other_run({.batch = batch});
    checkpoint.states.push_back({"early_stopping", {.numbers = {0, 1, 2, 3, number, 0}}});
    CHECK_THROWS_AS(trainer.resume(checkpoint), FormatError);
    checkpoint = other_run({.batch = batch});
    checkpoint.states[0].state.numbers[2] = number;
    CHECK_THROWS_AS(trainer.resume(checkpoint), FormatError);
  }
  {
    Task const larger = noisy_task(size + 1);
    Typed other;
    Trainer of_more{*other.solver, *larger.training, {.batch = batch}};
    of_more.run();
    CHECK(contains(message<MismatchError>([&] { trainer.resume(of_more.checkpoint()); }),
                   "the checkpoint was made with " + std::to_string(size + 1) + " samples, but there are " +
                       std::to_string(size)));
  }
  checkpoint = other_run({.batch = batch, .average = {.kind = WeightAverage::Kind::ema, .decay = 0.5f}});
  CHECK_THROWS_AS(trainer.resume(checkpoint), MismatchError);
  {
    Typed of_accuracy;
    Trainer other{*of_accuracy.solver, *task.training, {.batch = batch}};
    other.every(epochs(1), StopEarly{{.metric = {"validation/accuracy", Better::higher}}});
    checkpoint = other.checkpoint();
  }
  CHECK_THROWS_AS(trainer.resume(checkpoint), MismatchError);
  CHECK(trainer.checkpoint() == before);
  CHECK(!stop.best().value());
}

TEST_CASE("a run that stopped early stops again, and states of absent callbacks are kept") {
  Task const task = noisy_task(size);
  TrainerOptions const options{.epochs = 60, .batch = batch};
  Typed net;
  Trainer trainer{*net.solver, *task.training, options};
  trainer.every(epochs(1), Validation{*task.validation});
  trainer.every(epochs(1), StopEarly{{.patience = 2, .restore_best = false}});
  trainer.run();
  REQUIRE(!trainer.stopped().empty());
  auto const checkpoint = trainer.checkpoint();

  Typed second;
  Trainer again{*second.solver, *task.training, options};
  again.every(epochs(1), StopEarly{{.patience = 2, .restore_best = false}});
  again.resume(checkpoint);
  again.run();
  CHECK(again.iteration() == trainer.iteration());
  CHECK(again.stopped() == trainer.stopped());

  Typed third;
  Trainer without{*third.solver, *task.training, options};
  without.resume(checkpoint);
  CHECK(without.checkpoint().states == checkpoint.states);
}

TEST_CASE("what is large in a loss does not keep a checkpoint from being resumed") {
  data::Dataset large = spiral(40, 0);
  for (float& target : large.targets) target *= 1e9f;
  auto const source = data::own(std::move(large));
  using Slow = coldpress::Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 1e-12f}>;
  Net net{1}, other{1};
  Slow solver{net}, second{other};
  Trainer trainer{solver, *source, {.batch = 10}};
  trainer.run();
  Trainer again{second, *source, {.batch = 10}};
  again.resume(trainer.checkpoint());
  CHECK(again.checkpoint() == trainer.checkpoint());
}

}  // namespace
}  // namespace coldpress::train
