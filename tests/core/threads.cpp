// The thread pool: every piece once, whoever calls, whatever a piece does. Run under the thread sanitizer too.
#include <coldpress/threads.hpp>

#include "support/catch.hpp"
#include "support/sanitizer.hpp"

#include <array>
#include <stdexcept>

#if __has_include(<sys/wait.h>)
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>
#if __has_include(<sys/prctl.h>)
#include <sys/prctl.h>
#endif
#endif

using namespace coldpress;

namespace {

/// Calls f(number, worker) as pieces.
template <class F>
void run(Executor& executor, int pieces, F const& f) {
  executor.run(
      {pieces, [](void const* state, int number, int worker) { (*static_cast<F const*>(state))(number, worker); }, &f});
}
/// Whether each of `pieces` is done once, by workers that are never the same at a time.
bool does_all(Executor& executor, int pieces) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces)),
      working(static_cast<std::size_t>(executor.workers()));
  std::atomic<int> wrong = 0;
  run(executor, pieces, [&](int number, int worker) {
    auto& here = working[static_cast<std::size_t>(worker)];
    wrong += here.exchange(1);
    ++done[static_cast<std::size_t>(number)];
    here = 0;
  });
  for (auto const& times : done) wrong += times != 1;
  return wrong == 0;
}

}  // namespace

TEST_CASE("each piece is done once, in thousands of rounds") {
  for (int workers : {1, 2, 3, 8}) {
    ThreadPool pool{workers};
    CHECK(pool.workers() == workers);
    int wrong = 0;
    for (int round = 0; round < 2000; ++round) wrong += !does_all(pool, round % 67);
    CHECK(wrong == 0);
  }
  CHECK(ThreadPool{}.workers() >= 1);
}

TEST_CASE("there may be more pieces than a pool counts one by one") {
  for (int workers : {2, 3}) {
    ThreadPool pool{workers};
    for (int pieces : {32766, 32767, 32768, 65533, 100000}) CHECK(does_all(pool, pieces));
  }
}

TEST_CASE("a thread does its part of the pieces in their order, and then those that others have not begun") {
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool{2};  // one that has been used may be set aside
    std::vector<int> by_caller;
    std::atomic<int> done = 0, others_first = -1, others = 0;
    run(pool, 9, [&](int number, int worker) {
      if (worker == 0) {
        while (others_first < 0) std::this_thread::yield();
        by_caller.push_back(number);
      } else {
        ++others, others_first = number;
        while (done < 8) std::this_thread::yield();
      }
      ++done;
    });
    CHECK(others == 1);
    CHECK(others_first == 5);
    CHECK(by_caller == std::vector{0, 1, 2, 3, 4, 8, 7, 6});
  }
}

TEST_CASE("workers do come, also after they slept") {
  ThreadPool pool{2};
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> here = 0;
    run(pool, 2, [&](int, int) {  // neither ends without the other
      ++here;
      while (here < 2) std::this_thread::yield();
    });
    CHECK(here == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

TEST_CASE("the caller computes while others have the pool, and in a piece") {
  ThreadPool pool{3};
  std::array<int, 6> wrong{};
  std::vector<std::thread> callers;
  for (int& mistakes : wrong) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) mistakes += !does_all(pool, 20);
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (int mistakes : wrong) CHECK(mistakes == 0);

  std::atomic<int> inner = 0, of_others = 0;
  run(pool, 10, [&](int, int) { run(pool, 10, [&](int, int worker) { ++inner, of_others += worker != 0; }); });
  CHECK(inner == 100);
  CHECK(of_others == 0);
}

TEST_CASE("an exception reaches the caller, from any piece, and the pool goes on") {
  ThreadPool pool{3};
  for (int bad = 0; bad < 40; ++bad) {
    auto const work = [&](int number, int) {
      if (number == bad || number == 39) throw std::runtime_error{"piece " + std::to_string(number)};
    };
    CHECK_THROWS_AS(run(pool, 40, work), std::runtime_error);
    CHECK(does_all(pool, 40));
  }
  CHECK_THROWS_AS(run(pool, 9, [&](int, int) { run(pool, 2, [](int, int) { throw 1; }); }), int);
  CHECK(does_all(pool, 40));
}

#if __has_include(<sys/wait.h>) && !defined COLDPRESS_THREAD_SANITIZER
TEST_CASE("a fork computes alone, and ends") {
  ThreadPool pool{3};
  REQUIRE(does_all(pool, 10));
  pid_t const child = fork();
  if (child == 0) {
#if __has_include(<sys/prctl.h>)
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // where it does not end, it goes with the test, which ctest ends
#endif
    bool right = does_all(pool, 10);
    pool.~ThreadPool();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(does_all(pool, 10));
}
#endif
