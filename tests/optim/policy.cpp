// Policies: PyTorch's schedulers, Juice's own vectors, the formulas of Caffe and Mocha by hand, and lists of policies.
#include <coldpress/coldpress.hpp>

#include "golden/policies.hpp"
#include "support/catch.hpp"

using namespace coldpress;

namespace {

void check(Policy const& policy, float base, std::vector<std::pair<std::uint64_t, double>> const& rates) {
  for (auto const& [iteration, rate] : rates) {
    INFO(spelling(policy.stages[0].kind) << " at " << iteration);
    CHECK(static_cast<double>(policy.value(base, iteration)) == Approx(rate).epsilon(1e-6).margin(1e-12));
  }
}

/// From 0.1, as the schedulers of the goldens.
void check(Policy const& policy, std::vector<double> const& rates) {
  std::vector<std::pair<std::uint64_t, double>> numbered;
  for (double const rate : rates) numbered.emplace_back(numbered.size(), rate);
  check(policy, 0.1f, numbered);
}

}  // namespace

TEST_CASE("policies give the rates of PyTorch's schedulers") {
  using namespace coldpress::test;
  check(lr::Step{.gamma = 0.5f, .stepsize = 3}, golden::step);
  check(lr::Multistep{.gamma = 0.25f, .steps = {2, 5}}, golden::multistep);
  check(lr::Exp{.gamma = 0.75f}, golden::exp);
  check(lr::Poly{.power = 2, .max_iter = 6}, golden::poly);
  check(lr::Warmup{.max_iter = 5, .start = 0.25f}, golden::warmup);
  check(lr::Cosine{.max_iter = 10, .end = 0.2f}, golden::cosine);
  check(lr::CosineRestarts{.period = 4, .end = 0.2f}, golden::restarts);
  check(lr::CosineRestarts{.period = 3, .multiplier = 2}, golden::longer_restarts);
  check(lr::OneCycle{.max_iter = 20}, golden::one_cycle);
  check(
      lr::Staged{
          {5, lr::Warmup{.max_iter = 5, .start = 0.25f}}, {8, lr::Cosine{.max_iter = 8}}, {0, lr::Fixed{}, 0.5f}},
      golden::sequence);
  // The inverse cycle of the momentum: 0.95 at both ends, and 0.85 where the rate is highest.
  Policy const inverse = policy::OneCycle{.max_iter = 20, .start = 0.95f / 0.85f, .end = 0.95f / 0.85f};
  for (std::size_t i = 0; i < golden::one_cycle_momentum.size(); ++i)
    CHECK(static_cast<double>(inverse.value(0.85f, i)) == Approx(golden::one_cycle_momentum[i]).epsilon(1e-6));
}
TEST_CASE("what has ended stays where it ended") {
  CHECK(Policy(lr::Warmup{.max_iter = 5}).value(0.1f, 5) == 0.1f);
  CHECK(Policy(lr::Warmup{.max_iter = 5}).value(0.1f, std::uint64_t{1} << 60) == 0.1f);
  check(lr::Cosine{.max_iter = 4, .end = 0.25f}, 8, {{0, 8}, {2, 5}, {4, 2}, {1000000, 2}});
  check(lr::OneCycle{.max_iter = 20, .end = 0.5f}, 8, {{19, 4}, {20, 4}, {1000000, 4}});
  check(lr::OneCycle{.max_iter = 1}, 8, {{0, 8 * 4e-6}});
  for (float const power : {0.0f, 0.5f}) CHECK(Policy(lr::Poly{.power = power, .max_iter = 2}).value(8, 2) == 0);
  check(lr::Poly{.power = 0, .max_iter = 2}, 8, {{0, 8}, {1, 8}, {1000000, 0}});
  // A multiplier doubles the period until no counter holds the next one.
  CHECK(std::isfinite(Policy(lr::CosineRestarts{.period = 1, .multiplier = 2}).value(1, ~std::uint64_t{0})));
  check(lr::CosineRestarts{.period = Index{1} << 40}, 8, {{0, 8}, {std::uint64_t{1} << 39, 4}});
}
TEST_CASE("Mocha's momentum policies have a bound") {
  check(policy::Step{.gamma = 1.5f, .stepsize = 2, .max = 0.9f}, 0.5f,
        {{0, 0.5}, {1, 0.5}, {2, 0.75}, {3, 0.75}, {4, 0.9}, {1000000, 0.9}});
  check(policy::Linear{.gamma = 0.125f, .stepsize = 3, .max = 0.8f}, 0.5f,
        {{0, 0.5}, {2, 0.5}, {3, 0.625}, {6, 0.75}, {9, 0.8}, {1000000, 0.8}});
  check(policy::Linear{.gamma = 0.5f, .stepsize = 1}, 1, {{0, 1}, {7, 4.5}});
}
TEST_CASE("a stage counts from its own first iteration, starts from its factor of the base, and the last never ends") {
  Policy const list =
      lr::Staged{{2, lr::Fixed{}}, {3, lr::Exp{.gamma = 0.5f}, 2}, {1, lr::Linear{.gamma = 1, .stepsize = 2}}};
  check(list, 4, {{0, 4}, {1, 4}, {2, 8}, {3, 4}, {4, 2}, {5, 4}, {6, 4}, {7, 5}, {105, 54}});
  CHECK(list.value(0.1f, 0) == 0.1f);
  CHECK(list ==
        lr::Staged{{2, lr::Fixed{}}, {3, lr::Exp{.gamma = 0.5f}, 2}, {0, lr::Linear{.gamma = 1, .stepsize = 2}}});
  CHECK(lr::Staged{{7, lr::Exp{}}} == Policy(lr::Exp{}));
}
TEST_CASE("a list in a list counts as its stages, as far as there are iterations for them") {
  constexpr Policy inner = lr::Staged{{2, lr::Fixed{}, 0.5f}, {3, lr::Exp{.gamma = 0.5f}}};
  check(lr::Staged{{4, inner, 2}, {1, inner}}, 8,
        {{0, 8}, {1, 8}, {2, 16}, {3, 8}, {4, 4}, {5, 4}, {6, 8}, {7, 4}, {9, 1}});
  CHECK(Policy(lr::Staged{{1, inner}, {1, lr::Poly{.max_iter = 2}}}) ==
        lr::Staged{{1, lr::Fixed{}, 0.5f}, {1, lr::Poly{.max_iter = 2}}});
  // Steps of several multisteps, with those of one that is left out.
  constexpr Policy steps =
      lr::Staged{{3, lr::Multistep{.gamma = 0.5f, .steps = {1, 2}}}, {3, lr::Multistep{.gamma = 0.5f, .steps = {2}}}};
  check(lr::Staged{{5, steps}, {1, lr::Multistep{.gamma = 0.25f, .steps = {1}}}}, 8,
        {{0, 8}, {1, 4}, {2, 2}, {3, 8}, {4, 8}, {5, 8}, {6, 2}, {100, 2}});
}
TEST_CASE("a policy is a constant of a type, and knows whether its numbers are right") {
  constexpr auto bad_stage = [](Index iterations) {
    return Policy(lr::Staged{{iterations, lr::Fixed{}}, {1, lr::Exp{}}});
  };
  STATIC_REQUIRE(bad_stage(1).sane());
  STATIC_REQUIRE_FALSE(bad_stage(0).sane());
  STATIC_REQUIRE_FALSE(bad_stage(-1).sane());
  STATIC_REQUIRE_FALSE(bad_stage((Index{1} << 40) + 1).sane());
  constexpr Policy two = lr::Staged{{1, lr::Fixed{}}, {1, lr::Exp{}}}, four = lr::Staged{{4, two}, {4, two}};
  constexpr Policy eight = lr::Staged{{8, four}, {8, four}}, nine = lr::Staged{{8, lr::Fixed{}}, {8, eight}};
  STATIC_REQUIRE((eight.sane() && eight.stage_count == 8));
  STATIC_REQUIRE_FALSE(nine.sane());
  STATIC_REQUIRE_FALSE(Policy(lr::Staged{{1, nine}, {1, lr::Exp{}}}).sane());
  constexpr Policy steps = lr::Multistep{.steps = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  STATIC_REQUIRE_FALSE(Policy(lr::Staged{{10, steps}, {10, steps}}).sane());
  STATIC_REQUIRE_FALSE(Policy(lr::Multistep{}).sane());
  STATIC_REQUIRE_FALSE(Policy(lr::OneCycle{.max_iter = 5, .rise = 1.5f}).sane());
  STATIC_REQUIRE_FALSE(Policy(lr::Step{.gamma = -1}).sane());
  STATIC_REQUIRE_FALSE(Policy(lr::Cosine{.max_iter = 0}).sane());
  STATIC_REQUIRE(Policy(lr::Sigmoid{.gamma = -1}).sane());
  STATIC_REQUIRE_FALSE(Policy(lr::Staged{{1, lr::Fixed{}, -1}}).sane());
  STATIC_REQUIRE(sizeof(Solver<Network<Sequential<Linear{1}>, Shape{1}>, MeanSquaredError{}, Sgd{},
                               SolverOptions{.lr_policy = eight, .momentum_policy = policy::Linear{.max = 0.5f}}>) > 0);
}
TEST_CASE("no value is above the bound that a policy states") {
  std::vector<Policy> const policies = {lr::Fixed{},
                                        lr::Step{.gamma = 2, .stepsize = 2, .max = 0.9f},
                                        lr::Multistep{.gamma = 1.25f, .steps = {1, 5}},
                                        lr::Exp{.gamma = 0.5f},
                                        lr::Linear{.gamma = 0.1f, .stepsize = 1, .max = 0.75f},
                                        lr::Sigmoid{.gamma = 1},
                                        lr::Warmup{.max_iter = 5, .start = 1.5f},
                                        lr::Cosine{.max_iter = 5, .end = 1.25f},
                                        lr::OneCycle{.max_iter = 20, .start = 1.2f, .end = 1.4f},
                                        lr::Staged{{3, lr::Fixed{}, 1.5f}, {3, lr::Exp{.gamma = 0.5f}}}};
  for (Policy const& policy : policies) {
    INFO(spelling(policy.stages[0].kind));
    float greatest = 0;
    for (std::uint64_t i = 0; i < 40; ++i) greatest = std::max(greatest, policy.value(0.5f, i));
    CHECK(greatest <= policy.upper_bound(0.5f));
    CHECK(greatest >= policy.upper_bound(0.5f) * 0.98f);
  }
  CHECK(std::isinf(Policy(lr::Exp{.gamma = 2}).upper_bound(0.5f)));
  CHECK(std::isinf(Policy(lr::Step{.gamma = 2}).upper_bound(0.5f)));
}

TEST_CASE("Fixed is the base, bit for bit") {
  CHECK(Policy{}.value(0.1f, 0) == 0.1f);
  check(lr::Fixed{}, 5, {{0, 5}, {100, 5}});
}
TEST_CASE("Step") {
  Policy const policy = lr::Step{.gamma = 0.5f, .stepsize = 10};
  check(policy, 5, {{0, 5}, {9, 5}, {10, 2.5}, {19, 2.5}, {20, 1.25}});
  CHECK(policy.value(0.1f, 9) == 0.1f);
}
TEST_CASE("Multistep") {
  check(lr::Multistep{.gamma = 0.5f, .steps = {3, 5, 100}}, 8,
        {{0, 8}, {2, 8}, {3, 4}, {4, 4}, {5, 2}, {99, 2}, {100, 1}, {1000000, 1}});
  // As many as there may be: nothing ends them.
  check(lr::Multistep{.gamma = 0.5f, .steps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}, 65536,
        {{0, 65536}, {1, 32768}, {15, 2}, {16, 1}, {17, 1}});
}
TEST_CASE("Exp") {
  check(lr::Exp{.gamma = 0.5f}, 5, {{0, 5}, {1, 2.5}, {2, 1.25}, {3, 0.625}});
  check(lr::Exp{.gamma = 0.25f}, 5, {{0, 5}, {1, 1.25}, {2, 0.3125}});
}
TEST_CASE("Inv") {
  check(lr::Inv{.gamma = 0.5f, .power = 2}, 4, {{0, 4}, {2, 1}, {6, 0.25}});
  check(lr::Inv{.gamma = 1e-4f, .power = 0.75f}, 0.01f, {{10000, 0.005946035575}});  // LeNet's: 0.01 / 2^0.75
}
TEST_CASE("Poly ends at max_iter and stays there") {
  check(lr::Poly{.power = 2, .max_iter = 4}, 16, {{0, 16}, {1, 9}, {2, 4}, {3, 1}, {4, 0}, {9, 0}});
  check(lr::Poly{.power = 0.5f, .max_iter = 4}, 16, {{3, 8}, {5, 0}});
}
TEST_CASE("Sigmoid") {
  check(lr::Sigmoid{.gamma = -1, .stepsize = 2}, 1, {{0, 0.880797078}, {2, 0.5}, {3, 0.2689414214}});
}

TEST_CASE("a solver takes the rate of its iteration, which starts at 0 and is an update") {
  using Net = Network<Sequential<Linear{.output_size = 1, .weight = Constant{0}}>, Shape{1}>;
  constexpr SolverOptions options{.keep_gradients = true, .lr_policy = lr::Step{.gamma = 0.5f, .stepsize = 2}};
  constexpr SolverOptions twice{.accumulate = 2, .lr_policy = lr::Step{.gamma = 0.5f, .stepsize = 2}};
  Net net, slow;
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.0625f}, options> solver{net};
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.0625f}, twice> accumulating{slow};
  std::vector<float> const x{0}, target{1};  // the bias alone learns
  double bias = 0;
  for (int step = 0; step < 7; ++step) {
    solver.train_minibatch(x, target);
    accumulating.train_minibatch(x, target);
    accumulating.train_minibatch(x, target);
    bias += 0.0625 * std::pow(0.5, step / 2) * 2 * (1 - bias);
    CHECK(static_cast<double>(net.forward(x)[0]) == Approx(bias));
    CHECK(slow.forward(x)[0] == net.forward(x)[0]);
  }
  CHECK(solver.optimizer().learning_rate == 0.0625f);  // what the policy starts from
}

TEMPLATE_TEST_CASE("Sgd and Nesterov take the momentum of the update", "", Sgd, Nesterov) {
  using Net = Network<Sequential<Linear{.output_size = 1, .weight = Constant{0}}>, Shape{1}>;
  constexpr SolverOptions options{.accumulate = 2,
                                  .momentum_policy = policy::Linear{.gamma = 0.125f, .stepsize = 2, .max = 0.8f}};
  Net net;
  Solver<Net, MeanSquaredError{}, TestType{.learning_rate = 0.03125f, .momentum = 0.5f}, options> solver{net};
  std::vector<float> const x{0}, target{1};  // the bias alone learns
  double bias = 0, velocity = 0;
  for (int update = 0; update < 9; ++update) {
    solver.train_minibatch(x, target);
    solver.train_minibatch(x, target);
    double const momentum = std::min(0.5 + 0.125 * (update / 2), 0.8), step = 0.03125 * -2 * (1 - bias);
    velocity = step + momentum * velocity;
    bias -= std::is_same_v<TestType, Sgd> ? velocity : step + momentum * velocity;
    CHECK(static_cast<double>(net.forward(x)[0]) == Approx(bias));
  }
  CHECK(solver.optimizer().momentum == 0.5f);  // what the policy starts from
}
