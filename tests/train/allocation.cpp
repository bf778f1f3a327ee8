// How often a training asks for memory.
#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "support/heap.hpp"
#include "train/task.hpp"

#include <array>

namespace coldpress::train {
namespace {

/// The requests for memory between two calls, for each step of a run.
class Requests {
 public:
  void operator()(Trainer& trainer) {
    std::size_t const now = test::heap.calls;
    if (trainer.iteration() < of_step.size()) of_step[trainer.iteration()] = now - before_;
    before_ = test::heap.calls;
  }
  std::array<std::size_t, 64> of_step = {};

 private:
  std::size_t before_ = 0;
};

constexpr Index size = 100, batch = 16, per_epoch = 7, warm = 2;

/// Checks all steps of five epochs but the first ones, and those that end an epoch, after which statistics are kept.
template <class Solver>
void check_steps(Solver& solver, data::Source const& source, TrainerOptions options) {
  options.epochs = 5, options.batch = batch, options.record_every = 1000;
  Trainer trainer{solver, source, options};
  Requests const& requests = trainer.every(steps(1), Requests{});
  trainer.run();
  REQUIRE(trainer.iteration() == 5 * per_epoch);
  for (std::size_t step = warm + 1; step < 5 * per_epoch; ++step) {
    if (step % per_epoch == 0) continue;
    INFO("step " << step);
    CHECK(requests.of_step[step] == 0);
  }
  CHECK(requests.of_step[1] > 0);  // they are counted at all
}

using Classifier = Network<Sequential<Linear{8}, TanH{}, Linear{3}, LogSoftmax{}>, Shape{2}>;
using Fits = coldpress::Solver<Classifier, NegativeLogLikelihood{3}, Adam{.learning_rate = 0.01f}>;

TEST_CASE("after the first steps a trainer asks for no memory, whatever prefetches, averages and transforms") {
  Task const data = task(size);
  data::Dataset labelled = spiral(size, 0);
  for (std::size_t i = 0; i < labelled.targets.size(); ++i) labelled.targets[i] = static_cast<float>(i % 3);
  auto const classes = data::own(std::move(labelled));
  WeightAverage const ema{.kind = WeightAverage::Kind::ema, .decay = 0.9f};
  for (Index const prefetch : {0, 4}) {
    INFO("prefetch " << prefetch);
    for (TrainerOptions const& options :
         {TrainerOptions{.prefetch = prefetch}, TrainerOptions{.prefetch = prefetch, .average = ema},
          TrainerOptions{.prefetch = prefetch, .transforms = {data::Standardize{}, data::Noise{0.1f}}}}) {
      Typed typed;
      check_steps(*typed.solver, *data.training, options);
      Dynamic config;
      check_steps(*config.solver, *data.training, options);
      Classifier net{7};
      Fits solver{net};
      check_steps(solver, *classes, options);
    }
  }
}

TEST_CASE("what a trainer keeps of a step is two numbers, for which it asks rarely") {
  Task const data = task(size);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 5, .batch = batch, .record_every = 1}};
  Requests const& requests = trainer.every(steps(1), Requests{});
  trainer.run();
  std::size_t all = 0;
  for (std::size_t step = warm + 1; step < 5 * per_epoch; ++step) all += requests.of_step[step];
  // Six vectors that double their size: iterations and values of the two losses and the rate, each up to 35 numbers.
  CHECK(all <= 6 * 6);
}

}  // namespace
}  // namespace coldpress::train
