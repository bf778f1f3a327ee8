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
