// Gradients of a minibatch beside a training, which they leave as it is.
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/threads.hpp>
#include <coldpress/train.hpp>

#include "train/run_python.hpp"
#include "train/task.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace coldpress::train {
namespace {

using Gradients = std::vector<std::vector<float>>;
constexpr TrainerOptions options{.epochs = 3, .batch = 16, .seed = 3, .record_every = 2};  // 7 steps an epoch

/// What a step must not change: masks that are counted, and running statistics.
using Random =
    Network<Sequential<Linear{8}, BatchNormalization{}, TanH{}, Dropout{.probability = 0.3f}, Linear{1}>, Shape{2}>;
constexpr auto own_losses = graph([](auto x, auto t) {
  auto y = x | Linear{8} | BatchNormalization{} | TanH{} | Dropout{.probability = 0.3f} | Linear{1};
  apply(MeanSquaredError{}, y, t) | name("loss");
  apply(MeanSquaredError{}, y, t) | name("again");
  return y;
});
using WithLosses = Network<Graph<own_losses>, Inputs{Shape{2}, Shape{1}}>;
constexpr Adam adam{.learning_rate = 0.01f};

/// A network and its solver, as a type or, if asked, as a config that computes the same bits.
template <class N, auto loss, SolverOptions solver_options = SolverOptions{}, auto optimizer = adam>
struct Kind {
  using Solver = coldpress::Solver<N, loss, optimizer, solver_options>;
  static void as_type(auto f) {
    auto const net = std::make_unique<N>(7);
    auto const solver = std::make_unique<Solver>(*net);
    f(*solver);
  }
  static void as_config(auto f) {
    N net{7};
    auto solver =
        dynamic::Solver::from_config(dynamic::Backend::like_static(), dynamic::to_solver_config(Solver{net}), {}, 7);
    f(solver);
  }
};

/// All that a trainer knows after a run, in which `each` was called after every step.
template <class Solver>
persist::Checkpoint trained(Solver& solver, data::Source const& source, std::function<void(Trainer&)> const& each) {
  Trainer trainer{solver, source, options};
  trainer.every(steps(1), each);
  trainer.run();
  return trainer.checkpoint();
}

/// Checks that a training is the same with and without gradients, also from a checkpoint in its middle, and that a type
/// and a config have the same gradients.
template <class K>
void check_kind(data::Source const& source) {
  std::vector<Gradients> of_type;
  auto const check = [&](auto make, auto compare) {
    persist::Checkpoint plain, with, middle, again;
    make([&](auto& solver) { plain = trained(solver, source, [](Trainer&) {}); });
    make([&](auto& solver) {
      with = trained(solver, source, [&](Trainer& of) {
        Gradients gradients;
        std::vector<float> const output{of.solver().output().begin(), of.solver().output().end()};
        REQUIRE(of.solver().gradients(of.batch().samples, of.batch().targets, gradients));
        CHECK(std::ranges::equal(output, of.solver().output()));
        compare(of.iteration(), std::move(gradients));
        if (of.iteration() == 11) middle = of.checkpoint();
      });
    });
    CHECK(with == plain);
    make([&](auto& solver) {
      Trainer trainer{solver, source, options};
      trainer.every(steps(1), [](Trainer& of) {
        Gradients gradients;
        CHECK(of.solver().gradients(of.batch().samples, of.batch().targets, gradients));
      });
      trainer.resume(middle);
      trainer.run();
      again = trainer.checkpoint();
    });
    CHECK(again == plain);
  };
  check([](auto f) { K::as_type(f); }, [&](std::uint64_t, Gradients now) { of_type.push_back(std::move(now)); });
  REQUIRE(of_type.size() == 21);
  check([](auto f) { K::as_config(f); },
        [&](std::uint64_t step, Gradients const& now) { CHECK(now == of_type[step - 1]); });
}

TEST_CASE("no bit of a training depends on whether gradients are computed, and a type and a config have the same") {
  Task const data = task(100);
  SECTION("fused") { check_kind<Kind<Random, MeanSquaredError{}>>(*data.training); }
  SECTION("losses of its own") { check_kind<Kind<WithLosses, OwnLosses{}>>(*data.training); }
  SECTION("minibatches that wait for their update") {
    check_kind<Kind<Random, MeanSquaredError{}, SolverOptions{.clip_gradients = 0.5f, .accumulate = 3}>>(
        *data.training);
  }
  SECTION("minibatches in parts") {
    check_kind<Kind<Random, MeanSquaredError{}, SolverOptions{.microbatch = 5}>>(*data.training);
    check_kind<Kind<Random, MeanSquaredError{}, SolverOptions{.microbatch = 5, .bfloat16_gradients = true}>>(
        *data.training);
  }
  SECTION("parts that synchronise") {
    check_kind<Kind<Random, MeanSquaredError{}, SolverOptions{.microbatch = 5, .sync_batch_normalization = true}>>(
        *data.training);
  }
}

TEST_CASE("they are those of a backward pass by hand at the current weights, with the masks of the last step") {
  Task const data = task(100);
  Random net{7};
  coldpress::Solver<Random, MeanSquaredError{}, adam> solver{net};
  typename Random::TrainingWorkspace by_hand;
  (void)trained(solver, *data.training, [&](Trainer& of) {
    Gradients found;
    REQUIRE(of.solver().gradients(of.batch().samples, of.batch().targets, found));
    auto const y = net.forward_training(of.batch().samples, by_hand, of.iteration());
    std::vector<float> dy;  // of the mean of the squares of all differences
    for (std::size_t i = 0; i < y.size(); ++i)
      dy.push_back(2 * (y.values[i] - of.batch().targets[i]) / static_cast<float>(of.batch().size));
    net.backward(dy, by_hand);
    REQUIRE(found.size() == static_cast<std::size_t>(Random::weight_count));
    for (int i = 0; i < Random::weight_count; ++i) {
      auto const& values = found[static_cast<std::size_t>(i)];
      if (Random::weight(i).is_statistic()) {
        CHECK(values.empty());
        continue;
      }
      std::vector<float> expected(static_cast<std::size_t>(Random::weight_shape(i).size()));
      net.read(by_hand.gradients().data(), i, expected);
      REQUIRE(values.size() == expected.size());
      for (std::size_t e = 0; e < values.size(); ++e)
        CHECK(values[e] == Approx(expected[e]).epsilon(1e-4).margin(1e-6));
      CHECK(std::ranges::any_of(values, [](float value) { return std::abs(value) > 1e-5f; }) !=
            (Random::weight_name(i).view() == "linear1-0-bias"));  // the mean is subtracted from it
    }
  });
}

TEST_CASE("threads, and a network type behind the interface of configs, have the same gradients") {
  Task const data = task(100);
  auto const gradients_of = [&](auto& solver) {
    Gradients last;
    (void)trained(solver, *data.training,
                  [&](Trainer& of) { CHECK(of.solver().gradients(of.batch().samples, of.batch().targets, last)); });
    return last;
  };
  Random net{7}, threaded{7}, adapted{7};
  coldpress::Solver<Random, MeanSquaredError{}, adam> solver{net}, on_threads{threaded};
  Gradients const expected = gradients_of(solver);
  ThreadPool pool{2};
  threaded.run_on(&pool);
  CHECK(gradients_of(on_threads) == expected);
  dynamic::Solver behind{dynamic::Layer::adapt(adapted), dynamic::to_solver_config(solver)};
  Gradients const found = gradients_of(behind);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].size() == expected[i].size());
    for (std::size_t e = 0; e < found[i].size(); ++e)
      CHECK(found[i][e] == Approx(expected[i][e]).epsilon(1e-4).margin(1e-6));
  }
}

TEST_CASE("there are none where the loss is not finite") {
  Task const data = task(16);
  data::Dataset const samples = data::load(*data.training);
  auto const check = [&](auto& solver) {
    auto const any = any_solver(solver);
    (void)any->train(samples.samples, samples.targets);
    Gradients gradients;
    CHECK(any->gradients(samples.samples, samples.targets, gradients));
    any->set_base_rate(1e30f);
    (void)any->train(samples.samples, samples.targets);
    CHECK_FALSE(any->gradients(samples.samples, samples.targets, gradients));
  };
  Typed typed;
  check(*typed.solver);
  Dynamic config;
  check(*config.solver);
}

TEST_CASE("TensorBoard reads the gradients of the last minibatch at the weights that it shows") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Random plain{7}, net{7};
  coldpress::Solver<Random, MeanSquaredError{}, adam> without{plain}, solver{net};
  Trainer expected{without, *data.training, options};
  expected.run();
  Trainer trainer{solver, *data.training, options};
  std::map<std::string, std::vector<float>> wanted;  // at the end of the second epoch
  trainer.every(steps(14), [&](Trainer& of) {
    Gradients gradients;
    CHECK(of.solver().gradients(of.batch().samples, of.batch().targets, gradients));
    for (int i = 0; i < Random::weight_count; ++i)
      wanted[std::string{Random::weight_name(i).view()}] = gradients[static_cast<std::size_t>(i)];
  });
  trainer.every(epochs(1), TensorBoard{folder / "run"});
  trainer.run();
  CHECK(trainer.model() == expected.model());
  CHECK(trainer.statistics().all() == expected.statistics().all());

  auto const lines = lines_of_script("read_events.py", "'" + folder / "run" + "'");
  if (!lines) {
    WARN("skipped: there is no python3 with tensorboard");
    return;
  }
  std::size_t found = 0;
  for (std::string const& line : *lines) {
    std::istringstream words{line};
    std::string kind, tag;
    std::uint64_t step = 0;
    double count = 0, sum = 0, in_buckets = 0, low = 0, high = 0;
    words >> kind >> tag >> step >> count >> sum >> in_buckets >> low >> high;
    if (kind != "histogram" || !tag.starts_with("gradients/") || step != 14) continue;
    ++found;
    auto const& values = wanted.at(tag.substr(10));
    REQUIRE(!values.empty());
    CHECK(count == static_cast<double>(values.size()));
    CHECK(sum == Approx(std::accumulate(values.begin(), values.end(), 0.0)).margin(1e-9));
    CHECK(low == static_cast<double>(std::ranges::min(values)));
    CHECK(high == static_cast<double>(std::ranges::max(values)));
  }
  CHECK(found == 6);  // weights and biases of three layers, without the running mean and variance
}

}  // namespace
}  // namespace coldpress::train
