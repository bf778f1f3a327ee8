// What ranks send each other by the functions that all communicators share.
#include <coldpress/distributed/in_process.hpp>
#include <coldpress/distributed/mpi.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace coldpress;
using distributed::InProcess;

TEST_CASE("every rank gets what rank 0 broadcasts, and what all ranks share") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      int number = r.rank() == 0 ? 42 : 0;
      r.broadcast(&number, sizeof number);
      right += number == 42;
      // Rank r has r % 3 numbers.
      std::vector<std::size_t> begins{0};
      for (int rank = 0; rank < ranks; ++rank) begins.push_back(begins.back() + static_cast<std::size_t>(rank % 3));
      std::vector<int> all(begins.back(), -1), wanted(begins.back());
      for (int rank = 0; rank < ranks; ++rank) {
        for (auto i = begins[static_cast<std::size_t>(rank)]; i < begins[static_cast<std::size_t>(rank) + 1]; ++i) {
          wanted[i] = 100 * rank + static_cast<int>(i);
          if (rank == r.rank()) all[i] = wanted[i];
        }
      }
      r.share(all.data(), [&](int rank) { return begins[static_cast<std::size_t>(rank)] * sizeof(int); });
      right += all == wanted;
    });
    CHECK(right == 2 * ranks);
  }
}

TEST_CASE("no rank leaves a barrier before all have come") {
  for (int const ranks : {1, 2, 3, 7}) {
    std::atomic<int> arrived = 0, early = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      for (int round = 1; round <= 20; ++round) {
        ++arrived;
        r.barrier();
        early += arrived < round * ranks;
      }
    });
    CHECK(early == 0);
  }
}

TEST_CASE("two ranks exchange different numbers of bytes, whoever calls first") {
  for (int const ranks : {2, 3, 5}) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      r.for_each_other([&](int other) {
        std::vector<int> const sent(static_cast<std::size_t>(r.rank()), 10 * r.rank() + other);
        std::vector<int> received(static_cast<std::size_t>(other)), wanted(received.size(), 10 * other + r.rank());
        r.exchange(sent.data(), sent.size() * sizeof(int), received.data(), received.size() * sizeof(int), other);
        right += received == wanted;
      });
    });
    CHECK(right == ranks * (ranks - 1));
  }
}

TEST_CASE("exchanges in the background arrive in the order of their channel, whatever happens on the others") {
  for (int const ranks : {2, 3, 5}) {
    std::atomic<int> right = 0, over = 0;
    InProcess{ranks}.run([&](Communicator& r) {
      // Of each channel, one exchange with each other rank per round; rank by rank, the channels come in another order.
      constexpr int rounds = 5;
      auto const size = static_cast<std::size_t>(ranks);
      std::vector<int> sent(2 * rounds), received(2 * rounds * size, -1);
      for (int i = 0; i < 2 * rounds; ++i) sent[static_cast<std::size_t>(i)] = 100 * r.rank() + i;
      auto const begin = [&](int channel, int round) {
        auto const at = static_cast<std::size_t>(channel * rounds + round);
        r.for_each_other([&](int other) {
          r.begin_exchange(channel, &sent[at], sizeof(int), &received[at * size + static_cast<std::size_t>(other)],
                           sizeof(int), other);
        });
      };
      for (int i = 0; i < 2 * rounds; ++i) r.rank() % 2 == 0 ? begin(i / rounds, i % rounds) : begin(i % 2, i / 2);
      r.barrier();
      for (int const channel : {1, 0}) {
        r.wait_for(channel, size - 1);
        over += r.under_way(channel) <= size - 1;
        r.wait_for(channel, 0);
        over += r.under_way(channel) == 0;
      }
      int equal = 0;
      for (int i = 0; i < 2 * rounds; ++i)
        r.for_each_other([&](int other) {
          equal += received[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(other)] == 100 * other + i;
        });
      right += equal == 2 * rounds * (ranks - 1);
    });
    CHECK(right == ranks);
    CHECK(over == 4 * ranks);
  }
}

TEST_CASE("the time of exchanges in the background is that behind computing and that of waiting") {
  InProcess{2}.run([](Communicator& r) {
    CHECK(r.travel_time().hidden + r.travel_time().waited == 0);
    int out = 1, in = 0;
    if (r.rank() == 1) r.barrier();  // after rank 0 has begun, and looked twice
    r.begin_exchange(0, &out, sizeof out, &in, sizeof in, 1 - r.rank());
    if (r.rank() == 1) return r.wait_for(0, 0);
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      CHECK(r.under_way(0) == 1);
    }
    double const hidden = r.travel_time().hidden;
    double const waited = r.travel_time().waited;
    CHECK(hidden > 0);
    r.barrier();
    r.wait_for(0, 0);
    CHECK(r.travel_time().waited > waited);
    r.begin_exchange(1, nullptr, 0, nullptr, 0, 1);
    CHECK(r.under_way(1) == 0);
    double const all = r.travel_time().hidden;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    CHECK(r.under_way(1) == 0);
    CHECK(r.travel_time().hidden == all);  // nothing was under way
  });
}

TEST_CASE("whoever waits for an exchange in the background learns which rank has failed") {
  for (bool const hangs : {false, true}) {
    std::atomic<int> named = 0, done = 0;
    auto const work = [&](Communicator& r) {
      if (r.rank() == 1) {
        while (hangs && done < 2) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        if (!hangs) throw DataError{"lost"};
        return;
      }
      int out = 0, in = 0;
      try {
        r.begin_exchange(0, &out, sizeof out, &in, sizeof in, 1);
        r.wait_for(0, 0);
      } catch (distributed::PeerError const& error) {
        named += error.rank == 1;
        CHECK_THROWS_AS(r.begin_exchange(0, &out, sizeof out, &in, sizeof in, 1), distributed::PeerError);
      }
      ++done;
    };
    InProcess const all{3, std::chrono::milliseconds{50}};
    if (hangs) {
      all.run(work);
    } else {
      CHECK_THROWS_AS(all.run(work), DataError);
    }
    CHECK(named == 2);
  }
}

TEST_CASE("a rank that does not exist, and the rank itself, are refused") {
  InProcess{2}.run([](Communicator& r) {
    char byte = 0;
    for (int const other : {-1, 2, 1000, r.rank()}) {
      CHECK_THROWS_AS(r.send(&byte, 1, other), ConfigError);
      CHECK_THROWS_AS(r.receive(&byte, 1, other), ConfigError);
      CHECK_THROWS_AS(r.begin_exchange(0, nullptr, 0, &byte, 1, other), ConfigError);
    }
  });
}

TEST_CASE("a communicator that has lost a rank takes no late message for another") {
  std::atomic<bool> lost = false;
  std::atomic<int> errors = 0;
  InProcess{2, std::chrono::milliseconds{20}}.run([&](Communicator& r) {
    int value = 5;
    if (r.rank() == 1) {
      while (!lost) std::this_thread::yield();
      r.send(&value, sizeof value, 0);
      return;
    }
    for (int tries = 0; tries < 2; ++tries) {
      try {
        r.receive(&value, sizeof value, 1);
      } catch (distributed::PeerError const&) {
        ++errors, lost = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
    }
  });
  CHECK(errors == 2);
}

TEST_CASE("the launcher says in the environment how many processes it has started") {
  auto const set = [](char const* name, char const* value) { ::setenv(name, value, 1); };
  for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) ::unsetenv(name);
  CHECK(distributed::launched_ranks() == 1);
  set("SLURM_STEP_NUM_TASKS", "4");
  CHECK(distributed::launched_ranks() == 4);
  set("PMI_SIZE", "3");
  CHECK(distributed::launched_ranks() == 3);
  set("OMPI_COMM_WORLD_SIZE", "1");
  CHECK(distributed::launched_ranks() == 1);
  set("OMPI_COMM_WORLD_SIZE", "many");
  CHECK(distributed::launched_ranks() == 1);
  ::unsetenv("OMPI_COMM_WORLD_SIZE"), ::unsetenv("PMI_SIZE");
  CHECK(distributed::launched_rank() == 0);
  set("SLURM_PROCID", "2");
  CHECK(distributed::launched_rank() == 2);
  set("SLURM_PROCID", "9");  // of another step
  CHECK(distributed::launched_rank() == 3);
  ::unsetenv("SLURM_STEP_NUM_TASKS");
  CHECK(distributed::launched_rank() == 0);
  ::unsetenv("SLURM_PROCID");
}
