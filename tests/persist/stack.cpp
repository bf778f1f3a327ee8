// Threads with little stack: 256 KB are enough for every legal file.
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include "data/files.hpp"
#include "support/sanitizer.hpp"

#include <functional>

#include <pthread.h>

using namespace coldpress;

namespace {

void* call(void* action) {
  (*static_cast<std::function<void()>*>(action))();
  return nullptr;
}
/// Runs `action`, which must not throw, on a thread with a stack of 256 KB; where that is not enough, the process ends.
void with_little_stack(std::function<void()> action) {
  pthread_attr_t attributes;
  REQUIRE(::pthread_attr_init(&attributes) == 0);
  REQUIRE(::pthread_attr_setstacksize(&attributes, std::size_t{256} << 10) == 0);
  pthread_t thread;
  REQUIRE(::pthread_create(&thread, &attributes, call, &action) == 0);
  ::pthread_attr_destroy(&attributes);
  ::pthread_join(thread, nullptr);
}

/// As deep as a file may be: 32 layers inside each other.
[[maybe_unused]] dynamic::LayerConfig deepest() {
  dynamic::LayerConfig config{"fc", Linear{4}};
  for (int depth = 0; depth < 31; ++depth) {
    dynamic::SequentialConfig container;
    if (depth == 30) container.add_input("x", Shape{4});
    container.add_layer(std::move(config));
    config = {"container" + std::to_string(depth), std::move(container)};
  }
  return config;
}

}  // namespace

TEST_CASE("256 KB of stack are enough to read, load, run, train and write the deepest legal files") {
#if defined COLDPRESS_ADDRESS_SANITIZER || !defined NDEBUG
  WARN("skipped: frames are larger without optimisation, and under sanitizers");
#else
  TemporaryFolder const folder;
  dynamic::Backend const cpu{"cpu"};
  auto const objective = dynamic::LayerConfig{"loss", MeanSquaredError{}};
  std::vector<float> const x{1, 2, 3, 4};
  bool done = false;
  with_little_stack([&] {
    auto solver = dynamic::Solver::from_config(cpu, {.network = deepest(), .objective = objective});
    solver.train_minibatch(x, x);
    solver.network().save(folder / "net.juice");
    persist::write_checkpoint(folder / "run.checkpoint", persist::checkpoint_of(solver));
    persist::write_training(folder / "training.txt", {.network = deepest(), .loss = objective});
    dynamic::Layer::load(cpu, folder / "net.juice").predict(x);
    auto resumed = persist::solver_of(cpu, persist::read_checkpoint(folder / "run.checkpoint"));
    resumed.train_minibatch(x, x);
    done = persist::read_training(folder / "training.txt").network == deepest();
  });
  CHECK(done);
#endif
}

TEST_CASE("256 KB of stack are enough to refuse a text of brackets, however many") {
  TemporaryFolder const folder;
  for (int brackets : {30, 134, 200, 100000}) {
    folder.put("brackets.txt", "(data = " + std::string(static_cast<std::size_t>(brackets), '[') +
                                   std::string(static_cast<std::size_t>(brackets), ']') + ")");
    bool refused = false;
    with_little_stack([&] {
      try {
        persist::read_training(folder / "brackets.txt");
      } catch (FormatError const&) {
        refused = true;
      }
    });
    CHECK(refused);
  }
}
