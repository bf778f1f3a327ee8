#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr MeanSquaredError make(Shape) { return {}; }
};
}  // namespace

TEST_CASE("MeanSquaredError keeps the laws of losses") {
  test::check_loss_laws<Maker, TanH{}, Sequential<Sigmoid{}, Softmax{}>{}>();
}

TEST_CASE("MeanSquaredError is the sum of squares over the batch, not over values; the gradient is that of the sum") {
  Network<Sequential<Linear{2}>, Shape{2}> network;
  network.write_weight(0, std::vector<float>{1, 0, 0, 1});
  std::vector<float> const x{1, 2, 3, 4}, t{0, 2, 5, 3};
  auto const check = [&]<MeanSquaredError loss>() {
    Solver<decltype(network), loss, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
    float const w = loss.loss_weight;
    CHECK(solver.train_minibatch(x, t) == 3 * w);  // (1 + 0 + 4 + 1) / 2
    // dy = 2 (y - t) = {2, 0}, {-4, 2}; dW = dyᵀ x
    CHECK(test::canonical<decltype(network)>(solver.gradients()) ==
          std::vector<float>{-10 * w, -12 * w, 6 * w, 8 * w, -2 * w, 2 * w});
    CHECK(test::copy_of<float>(solver.output()) == x);
  };
  check.operator()<MeanSquaredError{}>();
  check.operator()<MeanSquaredError{.loss_weight = 0.25f}>();
}

namespace {
struct OverValues {
  static constexpr MeanSquaredError make(Shape) { return {.loss_weight = 3, .loss_average = Average::values}; }
};
}  // namespace

TEST_CASE("over values MeanSquaredError keeps the law of gradients, and is the mean over samples and values") {
  test::Violations violations;
  test::loss_gradient_law<Sequential<Linear{7}, TanH{}>, Shape{3}, OverValues::make({7})>(4, 1, violations);
  test::check_none(violations);
  std::vector<float> const x{1, 2, 3, 4}, t{0, 2, 5, 3};
  auto const check = [&]<class Backend, MeanSquaredError loss>() {
    Network<Sequential<Linear{2}>, Shape{2}, DynamicBatch, Backend> network;
    network.write_weight(0, std::vector<float>{1, 0, 0, 1});
    Solver<decltype(network), loss, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
    float const w = loss.loss_weight;
    CHECK(solver.train_minibatch(x, t) == 1.5f * w);  // (1 + 0 + 4 + 1) / 4
    CHECK(test::canonical<decltype(network)>(solver.gradients()) ==
          std::vector<float>{-5 * w, -6 * w, 3 * w, 4 * w, -1 * w, 1 * w});
  };
  CHECK(OverValues::make({}).weight_for({2, 3}) == 0.5f);  // 3 / 6
  check.operator()<DefaultBackend, MeanSquaredError{.loss_average = Average::values}>();
  check.operator()<DefaultBackend, MeanSquaredError{.loss_weight = 2, .loss_average = Average::values}>();
  check.operator()<Reference<float>, MeanSquaredError{.loss_average = Average::values}>();
}
