// Any number of ranks trains to the bits of one process, and a rank that fails changes nothing on the others.
#include "distributed/cases.hpp"
#include "distributed/through.hpp"

#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/threads.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

using namespace coldpress;
using namespace coldpress::test;
using distributed::InProcess;
using distributed::PeerError;

namespace {

/// What f(communicator) returns on each rank.
template <class F>
auto on_ranks(int ranks, F f) {
  std::vector<decltype(f(std::declval<Communicator&>()))> results(static_cast<std::size_t>(ranks));
  InProcess{ranks}.run([&](Communicator& c) { results[static_cast<std::size_t>(c.rank())] = f(c); });
  return results;
}

/// How many exchanges this rank has begun in the background, and how many it had when backward came to a Mark.
thread_local int begun = 0, begun_before_mark = 0;
thread_local bool mark_throws = false;

struct MarkOp {
  static constexpr bool needs_input = false, heavy = true;
  template <class T>
  T value(T x, Position) const {
    return x;
  }
  template <class T>
  T gradient(T, T, Position) const {
    begun_before_mark = begun;
    if (mark_throws) throw std::bad_alloc{};
    return Math<T>::number(1);
  }
};
/// y = x
struct Mark {
  static constexpr std::string_view name = "mark";
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr MarkOp op(std::uint64_t) const { return {}; }
  bool operator==(Mark const&) const = default;
};

/// Counts what begins in the background of another communicator.
class Watching final : public Through {
 public:
  using Through::Through;
  void begin_exchange(int channel, void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                      int with) override {
    ++begun;
    other.begin_exchange(channel, sent, sent_count, received, received_count, with);
  }
  std::size_t under_way(int channel) override { return other.under_way(channel); }
  void wait_for(int channel, std::size_t most) override { other.wait_for(channel, most); }
  void give_up() noexcept override { other.give_up(); }
};

}  // namespace

TEST_CASE("any number of ranks trains a network from a config to the bits of one process") {
  for (Case const& c : cases()) {
    INFO(c.name);
    std::string const alone = trained_alone(c);
    for (int const ranks : {1, 2, 3, 4, 5, 8}) {
      INFO(ranks << " ranks");
      for (bool const shards : {false, true}) {
        INFO("shards: " << shards);
        for (std::string const& on : on_ranks(ranks, [&](Communicator& r) { return trained_on(c, r, shards); }))
          CHECK(on == alone);
      }
    }
    Case other = c;  // the bits are those of the microbatch
    other.solver.microbatch = 4;
    CHECK(trained_alone(other) != alone);
    other = c, other.solver.bfloat16_gradients = !c.solver.bfloat16_gradients;
    CHECK(trained_alone(other) != alone);
  }
}

TEST_CASE("any number of ranks trains a network type to the bits of one process, with its statistics") {
  std::string const alone = typed_trained(nullptr);
  for (int const ranks : {1, 2, 3, 4, 5, 8}) {
    INFO(ranks << " ranks");
    for (std::string const& on : on_ranks(ranks, [](Communicator& r) { return typed_trained(&r); })) CHECK(on == alone);
    for (std::string const& on : on_ranks(ranks, [](Communicator& r) { return typed_trained<false, true>(&r); }))
      CHECK(on == alone);
  }
  std::string const rounded = typed_trained<true>(nullptr);
  CHECK(rounded != alone);
  for (std::string const& on : on_ranks(3, [](Communicator& r) { return typed_trained<true, true>(&r); }))
    CHECK(on == rounded);
}

TEST_CASE("so it does with statistics of the whole minibatch, also on threads and without a background") {
  std::string const alone = typed_trained<true>(nullptr);
  CHECK(typed_trained<false>(nullptr) != alone);
  for (int const ranks : {1, 2, 3, 4, 5, 8}) {
    INFO(ranks << " ranks");
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      Through foreground{r};
      ThreadPool threads{2};
      right += typed_trained<true>(&r) == alone;
      right += typed_trained<true>(&foreground) == alone;
      right += typed_trained<true>(&r, &threads) == alone;
    });
    CHECK(right == 3 * ranks);
  }
}

TEST_CASE("what travels between two sums of statistics is the same on a rank without parts, and on threads") {
  using Net = Network<Sequential<Linear{200}, BatchNormalization{}, Linear{200}, BatchNormalization{}, Linear{200}>,
                      Shape{200}>;
  auto const trained = [](Communicator* communicator, Executor* executor) {
    auto const net = std::make_unique<Net>(1);
    net->run_on(executor);
    constexpr SolverOptions options{.microbatch = 2, .sync_batch_normalization = true};
    auto const solver = std::make_unique<Solver<Net, MeanSquaredError{}, Adam{}, options>>(*net);
    solver->distribute_over(communicator);
    Random random{9};
    auto const x = random.values<float>(4 * 200), t = random.values<float>(4 * 200);
    for (int step = 0; step < 2; ++step) solver->train_minibatch(x, t);
    return std::vector<float>{net->parameters().begin(), net->parameters().end()};
  };
  auto const alone = trained(nullptr, nullptr);
  for (int const ranks : {2, 3}) {  // of which two have a part
    INFO(ranks << " ranks");
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      Through foreground{r};  // where each exchange waits for the other rank
      ThreadPool threads{2};
      right += trained(&foreground, nullptr) == alone;
      right += trained(&foreground, &threads) == alone;
      right += trained(&r, &threads) == alone;
    });
    CHECK(right == 3 * ranks);
  }
}

using Marked = Network<Sequential<Linear{300}, Mark{}, Linear{300}, Linear{300}>, Shape{300}>;

TEST_CASE("gradients travel while those of earlier layers are still computed") {
  using Net = Marked;
  auto const trained = [](Communicator* communicator, Executor* executor) {
    auto const net = std::make_unique<Net>(1);
    net->run_on(executor);
    Solver<Net, MeanSquaredError{}, Adam{}, SolverOptions{.microbatch = 2}> solver{*net};
    solver.distribute_over(communicator);
    Random random{9};
    auto const x = random.values<float>(8 * 300), t = random.values<float>(8 * 300);
    begun = begun_before_mark = 0;
    for (int step = 0; step < 2; ++step) solver.train_minibatch(x, t);
    return std::vector<float>{net->parameters().begin(), net->parameters().end()};
  };
  auto const alone = trained(nullptr, nullptr);
  for (int const ranks : {2, 3, 4}) {
    std::atomic<int> right = 0, early = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      Watching watching{r};
      right += trained(&watching, nullptr) == alone;
      // In the second step, more than what the first step began.
      early += begun_before_mark > begun / 2;
      ThreadPool threads{2};
      right += trained(&r, &threads) == alone;
    });
    CHECK(right == 2 * ranks);
    CHECK(early == ranks);
  }
}

TEST_CASE("a solver goes on alone, or on other ranks, from where several have left it") {
  Case const c = cases()[0];
  dynamic::Solver alone = solver_of(c);
  train(alone, c);
  std::string const twice = train(alone, c);
  auto const on = on_ranks(3, [&](Communicator& r) {
    dynamic::Solver solver = solver_of(c);
    distributed::start(solver, r);
    train(solver, c);
    solver.distribute_over(nullptr);
    return train(solver, c);
  });
  CHECK(on == std::vector<std::string>(3, twice));
}

TEST_CASE("a loss that diverges is an error on all ranks, and takes no step") {
  Case const c = cases()[0];
  std::atomic<int> errors = 0;
  InProcess{4}.run([&](Communicator& r) {
    dynamic::Solver solver = solver_of(c);
    solver.options().check_every = 0;
    distributed::start(solver, r);
    auto const before = persist::serialize(persist::checkpoint_of(std::as_const(solver)));
    std::vector<float> t(12 * 3);
    t[35] = std::numeric_limits<float>::infinity();  // of the last part
    try {
      (void)static_cast<float>(solver.train_minibatch(std::vector<float>(12 * 5), t));
    } catch (DivergenceError const&) {
      ++errors;
    }
    if (before == persist::serialize(persist::checkpoint_of(std::as_const(solver)))) ++errors;
  });
  CHECK(errors == 8);
}

TEST_CASE("a step that throws gives up what is under way, and the other ranks learn of it") {
  // Each rank computes one part, so that gradients travel when it comes to the Mark.
  std::atomic<int> threw = 0, begun_before = 0, named = 0, unchanged = 0, refused = 0;
  InProcess{2}.run([&](Communicator& r) {
    {
      Watching watching{r};
      auto const net = std::make_unique<Marked>(1);
      Solver<Marked, MeanSquaredError{}, Adam{}, SolverOptions{.microbatch = 2}> solver{*net};
      solver.distribute_over(&watching);
      std::vector<float> const x(4 * 300, 0.5f), t(4 * 300), before{net->parameters().begin(), net->parameters().end()};
      begun = 0, mark_throws = r.rank() == 1;
      try {
        solver.train_minibatch(x, t);
      } catch (std::bad_alloc const&) {
        ++threw, begun_before += begun > 0;
      } catch (PeerError const& error) {  // at once, and not after the time limit
        named += error.rank == 1 && error.sentence() == "rank 1 has failed";
      }
      unchanged += std::ranges::equal(before, net->parameters());
      mark_throws = false;
    }  // from here on, nothing may be written to the solver's memory
    unsigned char const sent = 1;
    unsigned char received = 0;
    try {
      r.exchange(&sent, 1, &received, 1, 1 - r.rank());
    } catch (PeerError const&) {
      ++refused;
    }
  });
  CHECK(threw == 1);
  CHECK(begun_before == 1);
  CHECK(named == 1);
  CHECK(unchanged == 2);
  CHECK(refused == 2);
}

TEST_CASE("a rank that fails while the others wait for what it has summed is named, and nothing has changed") {
  using Net =
      Network<Sequential<Linear{8}, Mark{}, BatchNormalization{}, TanH{}, Linear{8}, BatchNormalization{}>, Shape{4}>;
  constexpr SolverOptions options{.microbatch = 2, .sync_batch_normalization = true};
  std::atomic<int> threw = 0, named = 0, unchanged = 0;
  InProcess{3}.run([&](Communicator& r) {
    auto const net = std::make_unique<Net>(1);
    Solver<Net, MeanSquaredError{}, Adam{}, options> solver{*net};
    solver.distribute_over(&r);
    Random random{3};
    auto const x = random.values<float>(8 * 4), t = random.values<float>(8 * 8);
    solver.train_minibatch(x, t);
    std::vector<float> const before{net->parameters().begin(), net->parameters().end()};
    mark_throws = r.rank() == 1;
    try {
      solver.train_minibatch(x, t);
    } catch (std::bad_alloc const&) {
      ++threw;
    } catch (PeerError const& error) {
      named += error.rank == 1;
    }
    unchanged += std::ranges::equal(before, net->parameters());
    mark_throws = false;
  });
  CHECK(threw == 1);
  CHECK(named == 2);
  CHECK(unchanged == 3);
}

TEST_CASE("the ranks that are left learn which rank has failed, and have not changed") {
  Case const c = cases()[3];
  for (int const failing : {0, 1, 3}) {
    INFO("rank " << failing);
    std::atomic<int> named = 0, unchanged = 0;
    auto const work = [&](Communicator& r) {
      dynamic::Solver solver = solver_of(c);
      distributed::start(solver, r);
      std::vector<float> const x(16 * 6, 0.5f), t(16 * 3);
      solver.train_minibatch(x, t);
      if (r.rank() == failing) throw DataError{"lost"};
      auto const before = persist::serialize(persist::checkpoint_of(std::as_const(solver)));
      try {
        solver.train_minibatch(x, t);
      } catch (PeerError const& error) {
        named += error.rank == failing;
        unchanged += before == persist::serialize(persist::checkpoint_of(std::as_const(solver)));
      }
    };
    CHECK_THROWS_AS(InProcess{4}.run(work), DataError);
    CHECK(named == 3);
    CHECK(unchanged == 3);
  }
}

TEST_CASE("ranks that do not take the same step learn how they differ, and have not changed") {
  Case const c = cases()[0];
  auto const refusal = [&](std::function<void(dynamic::Solver&)> const& change, Index samples = 8) {
    std::mutex mutex;
    std::vector<std::string> sentences;
    InProcess{3}.run([&](Communicator& r) {
      dynamic::Solver solver = solver_of(c);
      distributed::start(solver, r);
      std::vector<float> const x(8 * 5, 0.5f), t(8 * 3);
      solver.train_minibatch(x, t);
      auto const before = persist::serialize(persist::checkpoint_of(std::as_const(solver)));
      auto const batch = static_cast<std::size_t>(r.rank() == 2 ? samples : 8);
      if (r.rank() == 2) change(solver);
      std::string sentence = "none";
      try {
        solver.train_minibatch(std::vector<float>(batch * 5), std::vector<float>(batch * 3));
      } catch (MismatchError const& error) {
        sentence = error.what();
      }
      bool const changed = before != persist::serialize(persist::checkpoint_of(std::as_const(solver)));
      std::lock_guard const lock{mutex};
      sentences.push_back(sentence);
      if (r.rank() != 2) CHECK(changed == (sentence == "none"));
    });
    REQUIRE(sentences.size() == 3);
    CHECK(sentences[0] == sentences[1]);
    CHECK(sentences[0] == sentences[2]);
    return sentences[0];
  };
  CHECK(refusal([](dynamic::Solver&) {}) == "none");
  CHECK(refusal([](dynamic::Solver&) {}, 7) ==
        "rank 2 trains on a minibatch of 7 samples, but rank 0 trains on a minibatch of 8 samples");
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().microbatch = 2; }) ==
        "rank 2 has parts of 2 samples, but rank 0 has parts of 3 samples");
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().sync_batch_normalization = true; }) ==
        "rank 2 normalises by the statistics of the whole minibatch, but rank 0 by those of its parts");
  CHECK(refusal([](dynamic::Solver& solver) { solver.network().executable().set_step(7); }) ==
        "rank 2 takes step 8, but rank 0 takes step 2");
  std::string const other = "rank 2 does not update the weights as rank 0 does";
  CHECK(refusal([](dynamic::Solver& solver) { solver.freeze("b"); }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) {
          std::get<Sgd>(solver.options().optimizer).learning_rate = 0.5f;
        }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().clip_gradients = 2; }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().weight_decay = 0.5f; }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().accumulate = 3; }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().keep_gradients = true; }) == "none");  // its own affair
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().shard_optimizer = true; }).starts_with(other));
  CHECK(refusal([](dynamic::Solver& solver) { solver.options().bfloat16_gradients = true; }).starts_with(other));
}

TEST_CASE("an error names the rank that does not answer, and not one that waits for it") {
  std::atomic<bool> done = false;
  std::atomic<int> named = 0;
  auto const work = [&](Communicator& r) {
    char byte = 0;
    try {
      if (r.rank() < 2) r.receive(&byte, 1, r.rank() + 1);
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    } catch (PeerError const& error) {
      named += error.rank == 2;
      done = named == 2;
      throw;
    }
  };
  std::string sentence;
  try {
    InProcess{3, std::chrono::milliseconds{100}}.run(work);
  } catch (PeerError const& error) {
    sentence = error.what();
  }
  CHECK(named == 2);
  CHECK((sentence == "rank 2 has not answered rank 1 (as rank 0 has heard)" || sentence == "rank 2 has failed"));
}

TEST_CASE("a rank that does not answer in time is an error, and so is one that has returned") {
  auto const error_on = [](InProcess const& ranks, std::function<void(Communicator&)> const& f) {
    try {
      ranks.run(f);
    } catch (PeerError const& error) {
      return std::pair{error.rank, std::string{error.what()}};
    }
    return std::pair{-1, std::string{"none"}};
  };
  int value = 0;
  auto const hung = error_on(InProcess{2, std::chrono::milliseconds{20}}, [&](Communicator& r) {
    if (r.rank() == 0) r.receive(&value, sizeof value, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
  });
  CHECK(hung == std::pair{1, std::string{"rank 1 has sent nothing for 0.020000 s (seen by rank 0)"}});
  auto const ended = error_on(InProcess{2}, [&](Communicator& r) {
    if (r.rank() == 0) r.receive(&value, sizeof value, 1);
  });
  CHECK(ended == std::pair{1, std::string{"rank 1 has ended"}});
  auto const other = error_on(InProcess{2}, [&](Communicator& r) {
    char byte = 0;
    r.rank() == 0 ? r.receive(&value, sizeof value, 1) : r.send(&byte, 1, 0);
  });
  CHECK(other == std::pair{1, std::string{"rank 1 has sent 1 bytes to rank 0, which expected 4"}});
}

TEST_CASE("ranks that do not train the same are refused, with what differs") {
  Case const c = cases()[1];
  auto const refusal = [&](std::function<void(Case&)> const& change, distributed::Facts const& more = {}) {
    std::mutex mutex;
    std::vector<std::string> sentences;
    InProcess{3}.run([&](Communicator& r) {
      Case own = c;
      if (r.rank() == 2) change(own);
      dynamic::Solver solver = solver_of(own);
      try {
        distributed::start(solver, r, r.rank() == 2 ? more : distributed::Facts{});
      } catch (MismatchError const& error) {
        std::lock_guard const lock{mutex};
        sentences.push_back(error.what());
      }
      CHECK(solver.options().communicator == nullptr);
    });
    REQUIRE(sentences.size() == 3);
    CHECK(sentences[0] == sentences[1]);
    CHECK(sentences[0] == sentences[2]);
    return sentences[0];
  };
  auto const says = [](std::string const& sentence, char const* words) {
    INFO(sentence);
    CHECK(sentence.starts_with("rank 2 does not train the same as rank 0: "));
    CHECK(sentence.find(words) != std::string::npos);
  };
  says(refusal([](Case& own) { own.layers[3] = {"fc", Linear{5}}, own.classes = 5; }), "the list of weights is ");
  says(refusal([](Case& own) { own.solver.base_lr = 1; }),
       "the hash of network, loss, solver, seed and monitoring is ");
  says(refusal([](Case& own) { own.solver.shard_optimizer = true; }), "shard_optimizer is true, not false");
  says(refusal([](Case& own) { own.solver.bfloat16_gradients = true; }),
       "the hash of network, loss, solver, seed and monitoring is ");
  says(refusal([](Case&) {}, {{"the colour", "red"}}), "the colour is red, not none");
}

TEST_CASE("data are compared by their numbers, shapes, and samples from the first to the last") {
  data::Dataset dataset{.sample_shape = {2}, .target_shape = {1}};
  for (int i = 0; i < 100; ++i) {
    dataset.samples.insert(dataset.samples.end(), {static_cast<float>(i), 1});
    dataset.targets.push_back(2);
  }
  auto const facts = [&](auto change) {
    data::Dataset own = dataset;
    change(own);
    return distributed::facts_of_data("the data", *data::own(std::move(own)));
  };
  auto const usual = facts([](auto&) {});
  REQUIRE(usual.size() == 2);
  CHECK(usual[0].name == "the data");
  CHECK(usual[0].value == "100 samples of {2}, targets of {1}");
  CHECK(usual[1].name == "the hash of 64 samples of the data");
  CHECK(facts([](auto&) {})[1].value == usual[1].value);
  CHECK(facts([](auto& own) { own.samples[0] = 7; })[1].value != usual[1].value);
  CHECK(facts([](auto& own) { own.samples[199] = 7; })[1].value != usual[1].value);
  CHECK(facts([](auto& own) { own.targets[99] = 7; })[1].value != usual[1].value);
  CHECK(facts([](auto& own) { std::reverse(own.samples.begin(), own.samples.end()); })[1].value != usual[1].value);
}

TEST_CASE("a network type is refused, too, if a rank has frozen other weights") {
  std::atomic<int> refused = 0;
  InProcess{2}.run([&](Communicator& r) {
    using Net = Network<Sequential<Linear{4}, TanH{}, Linear{1}>, Shape{3}>;
    Net net{1};
    Solver<Net, MeanSquaredError{}, Adam{}, SolverOptions{.microbatch = 2}> solver{net};
    distributed::start(solver, r);
    if (r.rank() == 1) solver.freeze("linear1");
    std::vector<float> const before{net.parameters().begin(), net.parameters().end()};
    try {
      solver.train_minibatch(std::vector<float>(12, 0.5f), std::vector<float>(4));
    } catch (MismatchError const&) {
      refused += std::ranges::equal(before, net.parameters());
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("what cannot be divided is refused") {
  InProcess{1}.run([](Communicator& r) {
    Case c = cases()[0];
    c.solver.microbatch = {};
    dynamic::Solver solver = solver_of(c);
    try {
      solver.distribute_over(&r);
      FAIL("not refused");
    } catch (ConfigError const& error) {
      CHECK(error.field() == "microbatch");
    }
    solver.options().microbatch = 2;
    solver.distribute_over(&r);
    solver.options().microbatch = 0;
    CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>(10), std::vector<float>(6)), ConfigError);

    using Net = Network<Sequential<Linear{3}>, Shape{5}>;
    SolverConfig config = cases()[0].solver;
    config.objective = LayerConfig{"loss", MeanSquaredError{}};
    dynamic::Solver adapted{dynamic::Layer::adapt(Net{1}), std::move(config)};
    adapted.distribute_over(&r);
    CHECK_THROWS_AS(adapted.train_minibatch(std::vector<float>(10), std::vector<float>(6)), UnsupportedError);
  });
  CHECK_THROWS_AS(InProcess{0}, ConfigError);
  CHECK_THROWS_AS((InProcess{2, std::chrono::seconds{0}}), ConfigError);
}
