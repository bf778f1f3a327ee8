// What ranks send each other by the functions that all communicators share.
#include <coldpress/distributed/in_process.hpp>
#include <coldpress/distributed/mpi.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
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
  ::unsetenv("OMPI_COMM_WORLD_SIZE"), ::unsetenv("PMI_SIZE"), ::unsetenv("SLURM_STEP_NUM_TASKS");
}
