// Ranks that divide the optimizer's state (ZeRO-1) have the bits of one process, in less memory and no more messages.
#include "distributed/cases.hpp"
#include "distributed/through.hpp"

#include <malloc.h>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

using namespace coldpress;
using namespace coldpress::test;
using distributed::InProcess;

namespace {

/// The bytes of aligned memory, as that of values, which this thread has, and how often it asked for some.
thread_local long aligned_bytes = 0, aligned_calls = 0;

}  // namespace

void* operator new(std::size_t size, std::align_val_t align) {
  auto const a = static_cast<std::size_t>(align);
  void* const p = std::aligned_alloc(a, (size + a - 1) / a * a);
  if (!p) throw std::bad_alloc{};
  aligned_bytes += static_cast<long>(malloc_usable_size(p)), ++aligned_calls;
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept {
  if (p) aligned_bytes -= static_cast<long>(malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t align) noexcept { operator delete(p, align); }

namespace {

/// Counts the bytes that a rank sends.
class Counting final : public Through {
 public:
  using Through::Through;
  void send(void const* bytes, std::size_t count, int to) override { sent += count, other.send(bytes, count, to); }
  std::size_t sent = 0;
};

Case adam(Index accumulate = 1) {
  Case c{"adam", {5}, 3, 0, {{"a", Linear{70}}, {"norm", BatchNormalization{}}, {"b", Linear{3}}}};
  c.solver.solver = Adam{}, c.solver.base_lr = 0.02f, c.solver.microbatch = 2, c.solver.accumulate = accumulate;
  return c;
}

/// Takes steps on minibatches that depend on nothing but the number of the step.
void step(auto& solver, std::uint64_t last) {
  while (solver.progress().minibatches < last) {
    Random random{solver.progress().minibatches + 1};
    auto const x = random.values<float>(9 * 5), t = random.values<float>(9 * 3);
    solver.train_minibatch(x, t);
  }
}
std::vector<std::byte> bytes_of(dynamic::Solver const& solver) {
  return persist::serialize(persist::checkpoint_of(solver));
}
dynamic::Solver sharded(Case const& c, Communicator& communicator, bool shards = true) {
  dynamic::Solver solver = solver_of(c);
  solver.options().shard_optimizer = shards;
  distributed::start(solver, communicator);
  return solver;
}

using Net = Network<Sequential<Linear{70}, Linear{3}>, Shape{5}>;
using Sharded =
    Solver<Net, MeanSquaredError{}, Adam{}, SolverOptions{.accumulate = 2, .microbatch = 2, .shard_optimizer = true}>;

}  // namespace

TEST_CASE("a rank has its share of the optimizer's state, and all of it only while it is gathered") {
  using Large = Network<Sequential<Linear{256}, Linear{256}>, Shape{256}>;
  constexpr long whole = 2 * Large::parameter_size * sizeof(float), slack = whole / 50;
  auto const net = std::make_unique<Large>(1);
  auto const bytes = [&](Communicator& r, bool shards, int gathered) {
    SolverConfig config{.solver = Adam{}, .microbatch = 2, .shard_optimizer = shards};
    config.network = dynamic::to_config(*net), config.objective = LayerConfig{"loss", MeanSquaredError{}};
    long const before = aligned_bytes;
    auto solver = dynamic::Solver::from_config(dynamic::Backend::like_static(), std::move(config), {}, 7);
    solver.distribute_over(&r);
    std::vector<float> const x(8 * 256, 0.5f), t(8 * 256);
    for (int i = 0; i < 3; ++i) {
      solver.train_minibatch(x, t);
      if (i == gathered) solver.gather_state();
    }
    return aligned_bytes - before;
  };
  auto const of_type = [&]<bool shards>(Communicator& r, std::bool_constant<shards>) {
    long const before = aligned_bytes;
    auto const own = std::make_unique<Large>(1);
    Solver<Large, MeanSquaredError{}, Adam{}, SolverOptions{.microbatch = 2, .shard_optimizer = shards}> solver{*own};
    solver.distribute_over(&r);
    std::vector<float> const x(8 * 256, 0.5f), t(8 * 256);
    for (int i = 0; i < 2; ++i) solver.train_minibatch(x, t);
    return aligned_bytes - before;
  };
  for (int const ranks : {2, 4}) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      long const all = bytes(r, false, -1), own = bytes(r, true, -1), saved = whole - whole / ranks;
      right += std::abs(all - own - saved) < slack;
      right += std::abs(bytes(r, true, 2) - own - (r.rank() == 0 ? whole : 0)) < slack;
      right += std::abs(bytes(r, true, 1) - own) < slack;  // until the next step
      right += std::abs(of_type(r, std::false_type{}) - of_type(r, std::true_type{}) - saved) < slack;
    });
    CHECK(right == 4 * ranks);
  }
}

TEST_CASE("steps allocate no memory for values after the first") {
  for (bool const shards : {false, true}) {
    for (bool const rounds : {false, true}) {
      std::atomic<int> right = 0;
      InProcess{3}.run([&](Communicator& r) {
        Case c = adam(2);
        c.solver.bfloat16_gradients = rounds;
        dynamic::Solver solver = sharded(c, r, shards);
        step(solver, 2);
        long const before = aligned_calls;
        step(solver, 7);
        right += aligned_calls == before;
      });
      CHECK(right == 3);
    }
  }
}

TEST_CASE("a state that was gathered on all ranks stays when the solver leaves them") {
  std::vector<std::byte> const alone = [] {
    dynamic::Solver solver = solver_of(adam());
    step(solver, 5);
    return bytes_of(solver);
  }();
  std::atomic<int> right = 0;
  InProcess{2}.run([&](Communicator& r) {
    dynamic::Solver solver = sharded(adam(), r);
    step(solver, 3);
    solver.gather_state(true);
    {
      auto const net = std::make_unique<Net>(1);
      std::vector<float> const x(9 * 5, 0.5f), t(9 * 3);
      auto own = std::make_unique<Through>(r);
      Sharded typed{*net};
      typed.distribute_over(own.get());
      typed.train_minibatch(x, t);
      typed.gather_state(true);
      typed.distribute_over(nullptr);
      own.reset();
      typed.gather_state();
      typed.train_minibatch(x, t);
      right += typed.progress().minibatches == 2;
    }
    solver.distribute_over(nullptr);
    solver.gather_state();  // as for any checkpoint, without a step in between
    step(solver, 5);
    right += bytes_of(solver) == alone;
  });
  CHECK(right == 4);
}

TEST_CASE("a state that is cleared leaves the gradients that wait for their update") {
  auto const steps = [](auto& solver) {
    std::vector<float> const x(9 * 5, 0.5f), t(9 * 3);
    solver.train_minibatch(x, t);
    solver.clear_state();
    solver.gather_state(true);
    return std::vector<float>(solver.gradients().begin(), solver.gradients().end());
  };
  auto const net = std::make_unique<Net>(1);
  Sharded one{*net};
  std::vector<float> const alone = steps(one);
  std::atomic<int> right = 0;
  InProcess{2}.run([&](Communicator& r) {
    auto const own = std::make_unique<Net>(1);
    Sharded solver{*own};
    solver.distribute_over(&r);
    right += steps(solver) == alone;
  });
  CHECK(right == 2);
}

TEST_CASE("weights travel instead of gradients, and neither between the minibatches of an update") {
  auto const sent = [](Case const& c, bool shards) {
    std::atomic<std::size_t> all = 0;
    InProcess{4}.run([&](Communicator& r) {
      Counting counting{r};
      dynamic::Solver solver = sharded(c, counting, shards);
      step(solver, 1);  // which makes what the steps use
      counting.sent = 0;
      step(solver, 1 + 2 * static_cast<std::uint64_t>(c.solver.accumulate));
      all += counting.sent;
    });
    return all.load();
  };
  Index values = 0;
  dynamic::Solver const some = solver_of(adam());
  for (auto const& weight : some.network().executable().weights()) values += weight.shape.size();
  CHECK(sent(adam(), true) == sent(adam(), false));
  auto const few = sent(adam(3), true), many = sent(adam(3), false);
  CHECK(few < many);
  CHECK(many - few >= 4 * 3 * static_cast<std::size_t>(values) * sizeof(float));  // of 4 minibatches, to 3 others
}

TEST_CASE("a run goes on from a checkpoint of any number of ranks, whether they divide the state or not") {
  Case const c = adam(2);
  dynamic::Solver alone = solver_of(c);
  step(alone, 9);
  auto const wanted = bytes_of(alone);
  persist::Checkpoint between;
  auto const go_on = [&](int ranks, bool shards, std::uint64_t last) {
    persist::Checkpoint next;
    InProcess{ranks}.run([&](Communicator& r) {
      dynamic::Solver solver = solver_of(c);
      solver.options().shard_optimizer = shards;
      if (between.iteration > 0) persist::resume(solver, between);
      distributed::start(solver, r);
      step(solver, last);
      solver.gather_state();
      if (r.rank() == 0) next = persist::checkpoint_of(std::as_const(solver));
    });
    between = next;
  };
  go_on(3, true, 3);  // between the minibatches of an update
  go_on(2, false, 5);
  go_on(2, true, 6);
  go_on(1, true, 7);
  go_on(5, true, 9);
  CHECK(persist::serialize(between) == wanted);
}

TEST_CASE("a checkpoint can replace a state that is divided") {
  auto const check = [](auto const& with_solver) {
    persist::Checkpoint third, sixth;
    with_solver(nullptr, [&](auto& solver) {
      step(solver, 3);
      third = persist::checkpoint_of(solver);
      step(solver, 6);
      sixth = persist::checkpoint_of(solver);
    });
    std::atomic<int> right = 0;
    InProcess{3}.run([&](Communicator& r) {
      with_solver(&r, [&](auto& solver) {
        step(solver, 5);
        persist::resume(solver, third);
        step(solver, 6);
        solver.gather_state(true);
        right += persist::checkpoint_of(solver) == sixth;
      });
    });
    CHECK(right == 3);
  };
  check([](Communicator* r, auto f) {
    dynamic::Solver solver = solver_of(adam(2));
    solver.options().shard_optimizer = true;
    solver.distribute_over(r);
    f(solver);
  });
  check([](Communicator* r, auto f) {
    auto const net = std::make_unique<Net>(1);
    Sharded solver{*net};
    solver.distribute_over(r);
    f(solver);
  });
}

TEST_CASE("a network whose gradients travel in several buckets has the bits of one process") {
  auto const trained = [](Communicator* r) {
    Case c = adam(2);
    c.layers = {{"a", Linear{9000}}, {"b", Linear{3}}};
    dynamic::Solver solver = solver_of(c);
    solver.options().shard_optimizer = true;
    solver.distribute_over(r);
    step(solver, 3);
    solver.gather_state(true);
    return bytes_of(solver);
  };
  auto const alone = trained(nullptr);
  for (int const ranks : {2, 3}) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) { right += trained(&r) == alone; });
    CHECK(right == ranks);
  }
}

TEST_CASE("a state that is divided is not read before it is gathered, and the error says so") {
  std::atomic<int> refused = 0;
  auto const refuses = [&](auto f) {
    try {
      f();
    } catch (UnsupportedError const& error) {
      refused += std::string{error.sentence()}.find("gather_state()") != std::string::npos;
    }
  };
  std::atomic<int> read = 0;
  InProcess{3}.run([&](Communicator& r) {
    dynamic::Solver solver = sharded(adam(2), r);
    step(solver, 3);
    std::vector<float> values(70 * 5);
    auto& executable = solver.network().executable();
    refuses([&] { (void)bytes_of(solver); });
    refuses([&] { executable.read(dynamic::Executable::state, 0, values); });
    refuses([&] { executable.write(dynamic::Executable::state + 1, 0, values); });
    refuses([&] { executable.read(dynamic::Executable::gradient, 0, values); });
    auto const net = std::make_unique<Net>(1);
    Sharded typed{*net};
    typed.distribute_over(&r);
    step(typed, 3);
    refuses([&] { (void)persist::checkpoint_of(typed); });
    refuses([&] { (void)typed.state(1); });
    refuses([&] { (void)typed.gradients(); });
    refuses([&] { typed.distribute_over(nullptr); });
    // Rank 0 alone can read it afterwards.
    solver.gather_state(), typed.gather_state();
    typed.gather_state();  // again, which changes nothing
    if (r.rank() == 0) {
      read += !bytes_of(solver).empty() && !persist::serialize(persist::checkpoint_of(typed)).empty();
    } else {
      refuses([&] { (void)bytes_of(solver); });
      refuses([&] { (void)typed.state(0); });
    }
    step(solver, 4), step(typed, 4);
    refuses([&] { (void)bytes_of(solver); });
    // Without ranks a step needs all of it.
    solver.distribute_over(nullptr);
    refuses([&] { step(solver, 5); });
  });
  CHECK(refused == 3 * 10 + 2 * 2);
  CHECK(read == 1);
}

TEST_CASE("a solver goes on alone, or undivided, or elsewhere, after the state is gathered on all ranks") {
  Case const c = adam(2);
  dynamic::Solver alone = solver_of(c);
  step(alone, 9);
  auto const wanted = bytes_of(alone);
  std::atomic<int> right = 0;
  InProcess{3}.run([&](Communicator& r) {
    dynamic::Solver first = sharded(c, r);
    step(first, 3);
    dynamic::Solver solver = std::move(first);
    step(solver, 4);
    solver.gather_state(true);
    solver.options().shard_optimizer = false;
    step(solver, 5);
    solver.options().shard_optimizer = true;
    step(solver, 7);
    solver.gather_state(true);
    solver.distribute_over(nullptr);
    step(solver, 9);
    right += bytes_of(solver) == wanted;
  });
  CHECK(right == 3);
}

TEST_CASE("all ranks have all gradients where the options keep them") {
  auto const gradients = [](Communicator* r) {
    dynamic::Solver solver = solver_of(adam());
    solver.options().keep_gradients = true, solver.options().shard_optimizer = r != nullptr;
    solver.distribute_over(r);
    step(solver, 2);
    std::vector<float> values(70 * 5);
    solver.network().executable().read(dynamic::Executable::gradient, 0, values);
    return values;
  };
  auto const alone = gradients(nullptr);
  std::atomic<int> right = 0;
  InProcess{3}.run([&](Communicator& r) { right += gradients(&r) == alone; });
  CHECK(right == 3);
}

TEST_CASE("a loss that diverges changes nothing of a state that is divided") {
  std::atomic<int> right = 0;
  InProcess{4}.run([&](Communicator& r) {
    dynamic::Solver solver = sharded(adam(2), r);
    solver.options().check_every = 0;
    step(solver, 3);
    solver.gather_state(true);
    auto const before = bytes_of(solver);
    std::vector<float> t(9 * 3);
    t[26] = std::numeric_limits<float>::infinity();  // of the last part
    CHECK_THROWS_AS((void)static_cast<float>(solver.train_minibatch(std::vector<float>(9 * 5), t)), DivergenceError);
    solver.gather_state(true);
    right += bytes_of(solver) == before;
  });
  CHECK(right == 4);
}
