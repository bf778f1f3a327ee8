// A barrier that is left out is a race, and ThreadSanitizer sees it: each barrier of a step is left out in turn.
#include "players.hpp"

#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/cuda.hpp>
#include <coldpress/testing/random.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// The first step of a network, with a barrier left out.
template <class Layers, auto in, Index batch, auto loss, auto optimizer>
struct FirstStep {
  using Net = Network<Layers, in, Batch<batch>, Cuda>;
  using Solver = coldpress::Solver<Net, loss, optimizer>;
  static constexpr bool by_blocks = std::is_same_v<typename Solver::Step, ChunkedStepOf>;

  void operator()() const {
    Net net{7, Cuda::on("cuda:emulated")};
    Solver solver{net};
    testing::Random random{3};
    auto const x = random.values<float>(batch * Net::inputs[0].size());
    std::vector<float> targets(static_cast<std::size_t>(batch * solver.target_shape.size()), 1.0f);
    solver.train_minibatch(x, targets);
  }
};

/// What is seen when each of `count` barriers is left out in turn, which `leave_out` does. What is not seen is
/// printed: barriers that others make superfluous.
struct Seen {
  Index count = 0, seen = 0;
  std::vector<Index> unseen = {};
};
template <class F, class LeaveOut>
Seen leave_out_each(Index count, F const& f, LeaveOut const& leave_out) {
  Seen seen{count};
  for (Index number = 0; number < count; ++number) {
    leave_out(number);
    if (has_race(f)) {
      ++seen.seen;
    } else {
      seen.unseen.push_back(number);
    }
  }
  return seen;
}
void print(char const* what, Seen const& seen) {
  std::printf("%s: %lld of %lld are seen; not", what, static_cast<long long>(seen.seen),
              static_cast<long long>(seen.count));
  for (Index number : seen.unseen) std::printf(" %lld", static_cast<long long>(number));
  std::printf("\n");
}

}  // namespace

TEST_CASE("each barrier of all that is left out of a step is seen") {
  // Each product has several blocks, so that no player reads what it has written alone. The sums of the first are split.
  using Layers = Sequential<Linear{70}, ReLU{}, Dropout{}, Linear{66}, LogSoftmax{}>;
  constexpr FirstStep<Layers, Shape{140}, 70, NegativeLogLikelihood{66}, Sgd{.momentum = 0.9f}> step{};
  STATIC_REQUIRE(!step.by_blocks);
  races() = Races{3, 1, 0};
  step();
  Index const count = races().barriers;
  CHECK(count == 6);
  CHECK(reports() == 0);
  Seen const seen = leave_out_each(count, step, [](Index number) { races() = Races{3, 1, 0, number}; });
  print("barriers of all", seen);
  CHECK(seen.seen == count);
}

TEST_CASE("barriers that are left out of a block with samples of its own are seen") {
  using Layers = Sequential<Linear{12}, TanH{}, Linear{5}>;
  constexpr FirstStep<Layers, Shape{4}, 2, MeanSquaredError{}, Sgd{.momentum = 0.9f}> step{};
  STATIC_REQUIRE(step.by_blocks);
  races() = Races{2, 3, 0};
  step();
  Index const count = races().barriers_in_block;
  CHECK(count > 40);
  CHECK(reports() == 0);
  Seen const seen = leave_out_each(count, step, [](Index number) { races() = Races{2, 3, 0, Races::none, number}; });
  print("barriers in a block", seen);
  CHECK(3 * seen.seen >= 2 * count);
  // A primitive ends with a barrier, and the next begins with one: either may be left out, but not both.
  for (std::size_t i = 0; i < seen.unseen.size();) {
    Index const first = seen.unseen[i];
    Index in_a_row = 0;
    while (i < seen.unseen.size() && seen.unseen[i] == first + in_a_row) ++in_a_row, ++i;
    if (in_a_row == 1 || first + in_a_row == count) continue;
    INFO("barriers in a block from " << first << ", " << in_a_row << " of them");
    races() = Races{2, 3, 0, Races::none, first, in_a_row};
    CHECK(has_race(step));
  }
}
