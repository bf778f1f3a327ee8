// Barriers of all blocks, one after another: on a GPU a hundred thousand in each of the two ways to wait, with checks
// of what blocks write for each other, and what one takes.
#include "cuda/barriers.hpp"

#include "cuda/devices.hpp"

#include <cstdio>

using namespace coldpress;
using namespace coldpress::test;

namespace {

bool is_emulated(std::string const& device) { return device == "cuda:emulated"; }

void check(std::string const& device, char const* what, Rounds rounds) {
  INFO(device << ": " << what);
  if (is_emulated(device)) rounds.count = rounds.checks ? 100 : 1000, rounds.width = 2048;
  auto const outcome = play(device, rounds);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.blocks >= 1);
  std::printf("%s: %s: %lld blocks, %s, %lld rounds, %lld wrong values, %.3f us a round%s\n", device.c_str(), what,
              static_cast<long long>(outcome.blocks), outcome.cluster ? "one cluster" : "no cluster",
              static_cast<long long>(rounds.count), static_cast<long long>(outcome.wrong), outcome.microseconds,
              rounds.checks ? "" : " (the barrier alone)");
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("whatever waits at a barrier of all blocks sees what all have written before it") {
  constexpr Index many = 100000, all = 1 << 20;
  for (std::string const& device : devices()) {
    check(device, "16 blocks as a cluster", {.blocks = 16, .cluster = true, .count = many});
    check(device, "16 blocks that take tickets", {.blocks = 16, .cluster = false, .count = many});
    check(device, "132 blocks that take tickets", {.blocks = 132, .cluster = false, .count = many});
    check(device, "as many blocks as there is room for", {.blocks = all, .cluster = false, .count = many / 10});
    for (bool const cluster : {true, false})
      check(device, cluster ? "16 blocks as a cluster" : "16 blocks that take tickets",
            {.blocks = 16, .cluster = cluster, .count = many, .checks = false});
    check(device, "132 blocks that take tickets", {.blocks = 132, .cluster = false, .count = many, .checks = false});
  }
}

TEST_CASE("a barrier that is left out is seen in what is read after it") {
  auto const outcome =
      play("cuda:emulated", {.blocks = 16, .cluster = true, .count = 20, .waits = false, .width = 2048});
  CHECK(outcome.wrong > 0);
}
