// Trainers on several ranks, each of which reads its part alone, write the checkpoint of one process.
#include "data/counted.hpp"
#include "data/files.hpp"
#include "distributed/cases.hpp"

#include <coldpress/train.hpp>

#include <algorithm>
#include <fstream>

using namespace coldpress;
using namespace coldpress::test;
using distributed::InProcess;

namespace {

/// 90 points, each with the label of its side of a line.
data::Dataset sides() {
  data::Dataset dataset{.sample_shape = {3}, .target_shape = {1}};
  Random random{3};
  for (int i = 0; i < 90; ++i) {
    auto const point = random.values<float>(3);
    dataset.samples.insert(dataset.samples.end(), point.begin(), point.end());
    dataset.targets.push_back(point[0] > point[1] ? 1.0f : 0.0f);
  }
  return dataset;
}

Case const labelled{
    "labelled",
    {3},
    1,
    2,
    {{"a", Linear{6}}, {"drop", Dropout{.probability = 0.2f}}, {"b", Linear{2}}, {"scores", LogSoftmax{}}},
    [] {
      SolverConfig config;
      config.solver = Adam{}, config.base_lr = 0.05f, config.microbatch = 3;
      return config;
    }()};

train::TrainerOptions options_of(WeightAverage average, Communicator* ranks) {
  return {.epochs = 6,
          .batch = 16,
          .seed = 4,
          .average = average,
          .transforms = {data::Standardize{}, data::Noise{.deviation = 0.1f}},
          .ranks = ranks};
}

/// The bytes of the last checkpoint and model, with what monitoring has decided.
std::string trained(auto& solver, WeightAverage average, Communicator* ranks) {
  auto const source = data::own(sides());
  train::Trainer trainer{solver, *source, options_of(average, ranks)};
  trainer.every(train::epochs(1), train::Validation{*source, "validation"});
  trainer.every(train::epochs(1), train::StopEarly{{.metric = {"validation/loss"}, .patience = 2}});
  trainer.run();
  trainer.solver().gather_state(true);
  std::string all = trainer.stopped();
  for (auto const& bytes : {persist::serialize(trainer.checkpoint()), persist::serialize(trainer.model())})
    append(all, bytes.data(), bytes.size());
  return all;
}

/// Notes how many samples of the minibatch it can read.
struct ReadsBatch {
  Index* read;
  static constexpr bool reads_batch = true;
  void operator()(train::Trainer& of) { *read = of.batch().read.count; }
};

}  // namespace

TEST_CASE("trainers on any number of ranks average weights, stop and count right answers as one does") {
  for (WeightAverage const& average : {WeightAverage{}, WeightAverage{.kind = WeightAverage::Kind::ema, .decay = 0.9f},
                                       WeightAverage{.kind = WeightAverage::Kind::swa, .from_epoch = 2}}) {
    dynamic::Solver solver = solver_of(labelled);
    std::string const alone = trained(solver, average, nullptr);
    for (int const ranks : {1, 2, 3, 7}) {
      INFO(ranks << " ranks");
      std::atomic<int> right = 0;
      InProcess{ranks}.run([&](Communicator& r) {
        for (bool const shards : {false, true}) {
          dynamic::Solver of_rank = solver_of(labelled);
          of_rank.options().shard_optimizer = shards;
          distributed::start(of_rank, r);
          right += trained(of_rank, average, &r) == alone;
        }
      });
      CHECK(right == 2 * ranks);
    }
  }
}

TEST_CASE("trainers of a network type do so, too, and refuse one without parts") {
  using Net = Network<Sequential<Linear{5}, TanH{}, Linear{2}, LogSoftmax{}>, Shape{3}>;
  auto const with = []<bool shards>(Communicator* ranks, std::bool_constant<shards>) {
    Net net{2};
    Solver<Net, NegativeLogLikelihood{2}, Adam{}, SolverOptions{.microbatch = 4, .shard_optimizer = shards}> solver{
        net};
    return trained(solver, {}, ranks);
  };
  std::string const alone = with(nullptr, std::false_type{});
  std::atomic<int> right = 0;
  InProcess{3}.run([&](Communicator& r) {
    right += with(&r, std::false_type{}) == alone;
    right += with(&r, std::true_type{}) == alone;
  });
  CHECK(right == 6);
  InProcess{1}.run([](Communicator& r) {
    Net net{2};
    Solver<Net, NegativeLogLikelihood{2}> solver{net};
    auto const source = data::own(sides());
    CHECK_THROWS_AS((train::Trainer{solver, *source, {.ranks = &r}}), ConfigError);
  });
}

TEST_CASE("each rank reads its part of every minibatch, or all of it where a callback reads it") {
  InProcess{3}.run([](Communicator& r) {
    Counted const source{data::own(sides())};
    dynamic::Solver solver = solver_of(labelled);
    train::Trainer trainer{solver, source, {.epochs = 1, .batch = 18, .prefetch = 0, .ranks = &r}};
    Index read = 0;
    if (r.rank() == 2) trainer.every(train::steps(1), ReadsBatch{&read});
    trainer.run();
    Index const wanted = r.rank() == 2 ? 90 : 30;
    if (source.samples != wanted)
      throw DataError{"rank " + std::to_string(r.rank()) + " has read " + std::to_string(source.samples)};
    if (r.rank() == 2 && read != 18) throw DataError{"the callback has seen " + std::to_string(read)};
  });
}

TEST_CASE("each rank reads and judges a share of the validation data, and all have the bits of one process") {
  auto const judged = [](Communicator* ranks, Index batch, data::Source const& validation) {
    dynamic::Solver solver = solver_of(labelled);
    auto const source = data::own(sides());
    train::TrainerOptions options = options_of({}, ranks);
    options.batch = batch;
    train::Trainer trainer{solver, *source, options};
    auto const score = trainer.evaluate_together(validation);
    return std::pair{*score.loss, *score.accuracy};
  };
  for (Index const batch : {1, 7, 16, 90, 100}) {
    auto const wanted = judged(nullptr, batch, *data::own(sides()));
    for (int const ranks : {1, 2, 3, 8}) {
      INFO(ranks << " ranks, batch " << batch);
      std::atomic<int> right = 0;
      std::atomic<Index> read = 0;
      InProcess{ranks}.run([&](Communicator& r) {
        Counted const source{data::own(sides())};
        right += judged(&r, batch, source) == wanted;
        read += source.samples;
      });
      CHECK(right == ranks);
      CHECK(read == 90);
    }
  }
}

TEST_CASE("a validation that is not on all ranks, or due after other steps, is refused") {
  auto const trained = [](Communicator& r, bool has_validation, std::int64_t due) -> std::string {
    dynamic::Solver solver = solver_of(labelled);
    auto const source = data::own(sides());
    train::Trainer trainer{solver, *source, options_of({}, &r)};
    if (has_validation) trainer.every(train::epochs(due), train::Validation{*source});
    try {
      trainer.run();
      return {};
    } catch (MismatchError const& error) {
      return error.sentence();
    }
  };
  std::string const words = "callbacks that belong on all ranks, such as a validation: ";
  for (int const ranks : {2, 3}) {
    std::atomic<int> missing = 0, later = 0, together = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      missing += trained(r, r.rank() == 0, 1) == words + "rank 1 has 0, and rank 0 1";
      later += trained(r, true, r.rank() == 1 ? 2 : 1) ==
               words + "rank 1 has 1, and rank 0 1, which are due after other steps";
      together += trained(r, true, 1).empty();
    });
    CHECK(missing == ranks);
    CHECK(later == ranks);
    CHECK(together == ranks);
  }
}

/// The clock of the rank whose thread asks for the time, and by how much it goes on then.
thread_local double now = 0, tick = 0;

TEST_CASE("a callback that is due by the clock is called after the same steps on all ranks, those of rank 0's clock") {
  // Looked at once when the run begins and then after each step.
  auto const called = [](Communicator* ranks, double seconds, bool has_callback = true) {
    now = -seconds, tick = seconds;
    dynamic::Solver solver = solver_of(labelled);
    auto const source = data::own(sides());
    train::TrainerOptions options = options_of({}, ranks);
    options.clock = [] { return now += tick; };
    train::Trainer trainer{solver, *source, options};
    std::vector<std::uint64_t> steps;
    if (has_callback)
      trainer.every(train::seconds(2.5), [&steps](train::Trainer& of) { steps.push_back(of.iteration()); });
    trainer.run();
    return steps;
  };
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t step = 3; step <= 36; step += 3) wanted.push_back(step);  // 6 epochs of 6
  CHECK(called(nullptr, 1) == wanted);
  CHECK(called(nullptr, 0.125) == std::vector<std::uint64_t>{20});
  for (int const ranks : {1, 2, 3}) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) { right += called(&r, r.rank() == 0 ? 1 : 0.125) == wanted; });
    CHECK(right == ranks);
    right = 0;  // the callback writes, and is on rank 0 alone
    InProcess{ranks}.run([&](Communicator& r) {
      auto const steps = called(&r, 1, r.rank() == 0);
      right += r.rank() == 0 ? steps == wanted : steps.empty();
    });
    CHECK(right == ranks);
  }
}

TEST_CASE("where ranks divide the optimizer's state, rank 0 alone writes the snapshots of one process") {
  TemporaryFolder const folder;
  auto const trained = [&](Communicator* ranks, std::string const& name, bool shards) {
    now = -1, tick = 1;
    Case own = labelled;
    own.solver.accumulate = 4;
    dynamic::Solver solver = solver_of(own);
    solver.options().shard_optimizer = shards;
    auto const source = data::own(sides());
    train::TrainerOptions options = options_of({.kind = WeightAverage::Kind::ema, .decay = 0.9f}, ranks);
    options.clock = [] { return now += tick; };
    train::Trainer trainer{solver, *source, options};
    trainer.every(train::epochs(1), train::Validation{*source, "validation"});
    trainer.every(train::epochs(1),
                  train::ReduceRate{{.patience = 1, .min_delta = 0.1, .cooldown = 0, .reload = true}});
    std::string files;
    if (!ranks || ranks->rank() == 0) {
      trainer.every(train::seconds(2.5), train::Snapshot{folder / name + "{iteration}"});
      trainer.every(train::steps(5), train::Snapshot{folder / name + "{iteration}.step"});
    }
    trainer.run();
    return std::to_string(static_cast<double>(trainer.solver().base_rate()));
  };
  auto const written = [&](std::string const& name) {
    std::string all;
    for (int step = 1; step <= 36; ++step) {
      for (char const* const end : {"", ".step"}) {
        std::string const file = folder / name + std::to_string(step) + end;
        if (std::ifstream in{file, std::ios::binary}; in)
          all += std::to_string(step) + end + std::string{std::istreambuf_iterator<char>{in}, {}};
      }
    }
    return all;
  };
  std::string const rate = trained(nullptr, "alone", false), alone = written("alone");
  REQUIRE(!alone.empty());
  CHECK(rate != std::to_string(static_cast<double>(labelled.solver.base_lr)));  // it went back to the best weights
  for (int const ranks : {2, 3}) {
    std::string const name = "on" + std::to_string(ranks) + "-";
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) { right += trained(&r, name, true) == rate; });
    CHECK(right == ranks);
    CHECK(written(name) == alone);
  }
}

TEST_CASE("a microbatch that changes after the ranks have begun is refused") {
  InProcess{1}.run([](Communicator& r) {
    dynamic::Solver solver = solver_of(labelled);
    auto const source = data::own(sides());
    train::Trainer trainer{solver, *source, {.ranks = &r}};
    solver.options().microbatch = 5;
    CHECK_THROWS_AS(trainer.run(), ConfigError);
  });
}
