// Learning-rate policies: Juice's own vectors, and Caffe's formulas by hand.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"

using namespace coldpress;

namespace {

void check(LRPolicy const& policy, float base, std::vector<std::pair<std::uint64_t, double>> const& rates) {
  for (auto const& [iteration, rate] : rates) {
    INFO(policy.name() << " at " << iteration);
    CHECK(static_cast<double>(policy.rate(base, iteration)) == Approx(rate).epsilon(1e-6).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("Fixed is the base, bit for bit") {
  CHECK(LRPolicy{}.rate(0.1f, 0) == 0.1f);
  check(lr::Fixed{}, 5, {{0, 5}, {100, 5}});
}
TEST_CASE("Step") {
  LRPolicy const policy = lr::Step{.gamma = 0.5f, .stepsize = 10};
  check(policy, 5, {{0, 5}, {9, 5}, {10, 2.5}, {19, 2.5}, {20, 1.25}});
  CHECK(policy.rate(0.1f, 9) == 0.1f);
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
