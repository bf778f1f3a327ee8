// Memory that runs out: the n-th allocation fails, for every n.
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include "data/files.hpp"
#include "support/heap.hpp"

#include <coldpress/coldpress.hpp>

using namespace coldpress;

namespace {

// Of those that are watched; threads take turns here.
long made = 0, fails_at = -1;
bool failed = false;
std::size_t largest = 0, all = 0;

bool refuses(std::size_t size) {
  largest = std::max(largest, size), all += size;
  bool const now = made++ == fails_at;
  failed = failed || now;
  return now;
}
void watch(bool now) { test::heap.refuses = now ? refuses : nullptr; }
std::atomic<long> const& living = test::heap.living;

std::vector<float> const x{1, -2, 3, 0.5f, 2, -1}, y{1, 0};
std::string const no_memory = "there is not enough memory for it";

/// Runs `action` with its n-th allocation failing; says whether there was one. It may end well all the same, or throw
/// std::bad_alloc, or a MemoryError that names `file`.
template <class Action>
bool fail(long n, std::string const& file, Action action) {
  made = 0, fails_at = n, failed = false, watch(true);
  std::string named, wrong;
  bool typed = false;
  try {
    action();
    watch(false);
  } catch (MemoryError const& error) {
    watch(false), typed = true;
    named = error.file();
  } catch (std::bad_alloc const&) {
    watch(false);
  } catch (std::exception const& error) {
    watch(false);
    wrong = error.what();
  }
  if (!wrong.empty()) FAIL_CHECK("allocation " << n << ": " << wrong);
  if (typed && named != file) FAIL_CHECK("allocation " << n << ": the error names '" << named << "'");
  return failed;
}

/// Catch allocates for assertions, so there is none where nothing is wrong.
void check(bool holds, long n, char const* what) {
  if (!holds) FAIL_CHECK("allocation " << n << ": " << what);
}

/// The same for every n, of what keeps nothing; returns how many there are. `may_lose`: so much may be left in all.
template <class Action>
long fail_each(std::string const& file, Action action, long may_lose = 0) {
  action();
  for (long n = 0; fail(n, file, action); ++n) {
  }  // what is made once for the process, by errors too, is there
  for (long n = 0;; ++n) {
    long const before = living;
    bool const more = fail(n, file, action);
    long const lost = living - before;
    check(lost >= 0 && lost <= may_lose, n, "something is left");
    may_lose -= lost;
    if (!more) return n;
  }
}

dynamic::LayerConfig network() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{3});
  layers.add_layer({"fc1", Linear{4}}).add_layer({"tanh1", TanH{}}).add_layer({"fc2", Linear{1}});
  return {"network", layers};
}
dynamic::SolverConfig training() {
  return {.network = network(),
          .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}},
          .solver = Adam{},
          .base_lr = 0.01f};
}
std::vector<float> copied(std::span<float const> values) { return {values.begin(), values.end()}; }
std::vector<float> weights(dynamic::Solver const& solver) {
  std::vector<float> all_values;
  for (auto const& tensor : persist::model_of(solver.network()).weights)
    all_values.insert(all_values.end(), tensor.values.begin(), tensor.values.end());
  return all_values;
}

dynamic::Backend const backend{"cpu"};
using Net = Network<Sequential<Linear{4}, TanH{}, Linear{1}>, Shape{3}>;

}  // namespace

TEST_CASE("loading where memory runs out throws, keeps nothing, and works the next time") {
  TemporaryFolder const folder;
  std::string const file = folder / "net.juice", checkpoint = folder / "run.checkpoint";
  auto solver = dynamic::Solver::from_config(backend, training(), {}, 1);
  solver.train_minibatch(x, y);
  solver.network().save(file);
  persist::write_checkpoint(checkpoint, persist::checkpoint_of(solver));
  auto const expected = copied(dynamic::Layer::load(backend, file).predict(x));

  CHECK(fail_each(file, [&] { dynamic::Layer::load(backend, file); }) > 100);
  CHECK(fail_each(file, [&] { load<Net>(file); }) > 100);
  CHECK(fail_each(checkpoint, [&] { persist::read_checkpoint(checkpoint); }) > 100);
  auto const read = persist::read_checkpoint(checkpoint);
  CHECK(fail_each("", [&] { persist::solver_of(backend, read); }) > 100);
  CHECK(copied(dynamic::Layer::load(backend, file).predict(x)) == expected);
}

TEST_CASE("reading a config where memory runs out says so, and not that the config is wrong") {
#if defined COLDPRESS_ADDRESS_SANITIZER
  WARN("skipped: a sanitizer sees what Cap'n Proto loses here");
#else
  TemporaryFolder const folder;
  std::string const file = folder / "training.txt";
  persist::write_training(file, {.network = network(), .loss = training().objective});
  auto const expected = persist::read_training(file);
  // Cap'n Proto 0.9 loses a message's second segment where there is no memory to note it (allocateSegment).
  auto const read = [&] { persist::read_training(file); };
  CHECK(fail_each(file, read, 3) > 50);
  CHECK(persist::read_training(file) == expected);
#endif
}

TEST_CASE("saving where memory runs out leaves the file of before, or all of the new one") {
  TemporaryFolder const folder;
  std::string const file = folder / "net.juice";
  auto const layer = dynamic::Layer::from_config(backend, network(), {}, 1);
  dynamic::Layer::from_config(backend, network(), {}, 2).save(file);
  auto const before = content(file);
  layer.save(folder / "other.juice");
  auto const after = content(folder / "other.juice");
  REQUIRE(before != after);
  bool more = true;
  for (long n = 0; more; ++n) {
    folder.put("net.juice", before);
    long const living_before = living;
    more = fail(n, file, [&] { layer.save(file); });
    check(living == living_before, n, "something is left");
    std::string const now = content(file);
    check(now == after || (more && now == before), n, "the file is neither the old one nor the new one");
    check(folder.names().size() == 2, n, "a file is left");
  }
}

TEST_CASE("a network goes on after memory ran out in predict") {
  auto const expected = copied(dynamic::Layer::from_config(backend, network(), {}, 1).predict(x));
  bool more = true;
  for (long n = 0; more; ++n) {
    long const before = living;
    {
      auto layer = dynamic::Layer::from_config(backend, network(), {}, 1);
      more = fail(n, "", [&] { layer.predict(x); });
      check(copied(layer.predict(x)) == expected, n, "another result");
    }
    check(living == before, n, "something is left");
  }
}

TEST_CASE("a step of training where memory runs out is done or not begun, and training goes on") {
  std::vector<std::vector<float>> expected;  // after so many steps
  {
    auto solver = dynamic::Solver::from_config(backend, training(), {}, 1);
    for (int step = 0; step < 4; ++step, solver.train_minibatch(x, y)) expected.push_back(weights(solver));
  }
  bool more = true;
  long n = 0;
  for (; more; ++n) {
    long const before = living;
    {
      auto solver = dynamic::Solver::from_config(backend, training(), {}, 1);
      more = fail(n, "", [&] { solver.train_minibatch(x, y); });
      auto const done = static_cast<std::size_t>(solver.iteration());
      check(done <= 1 && weights(solver) == expected[done], n, "half a step");
      for (int step = 0; step < 2; ++step) solver.train_minibatch(x, y);
      check(weights(solver) == expected[done + 2], n, "other weights after the next steps");
    }
    check(living == before, n, "something is left");
  }
  CHECK(n > 10);
}

TEST_CASE("loading asks for the weights before the network takes memory") {
  TemporaryFolder const folder;
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{32768}).add_layer({"a", Linear{32768}});
  persist::write_model(folder / "none.juice", {.name = "none", .config = {"none", layers}});
  all = 0, fails_at = -1, watch(true);
  auto const said = message<FormatError>([&] { dynamic::Layer::load(backend, folder / "none.juice"); });
  watch(false);
  CHECK(contains(said, "weight 'a-0': is missing"));
  CHECK(all < (1 << 20));  // the network's are 4 GiB
}

TEST_CASE("loading runs no filler, whose values would be overwritten") {
  constexpr Index n = 512;
  using Wide = Network<Sequential<Linear{.output_size = n, .weight = Orthogonal{}}>, Shape{n}>;
  TemporaryFolder const folder;
  std::string const file = folder / "net.juice";
  Wide const net{3};
  save(net, file);
  constexpr std::size_t of_filler = n * n * sizeof(double);
  auto const largest_in = [](auto action) {
    largest = 0, fails_at = -1, watch(true);
    action();
    watch(false);
    return largest;
  };
  CHECK(largest_in([] { Wide const filled{3}; }) >= of_filler);
  CHECK(largest_in([&] { load<Wide>(file); }) < of_filler);
  CHECK(largest_in([&] { dynamic::Layer::load(backend, file); }) < of_filler);
  auto loaded = load<Wide>(file);
  std::vector<float> a(n * n), b(n * n);
  net.read_weight(0, a), loaded.read_weight(0, b);
  CHECK(a == b);
}
