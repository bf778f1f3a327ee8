#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr NegativeLogLikelihood make(Shape out) { return {out.size()}; }
};
}  // namespace

TEST_CASE("NegativeLogLikelihood keeps the laws of losses") { test::check_loss_laws<Maker, LogSoftmax{}, TanH{}>(); }

TEST_CASE("NegativeLogLikelihood is the mean over the batch; the gradient is -1 at the label of every sample") {
  Network<Sequential<Linear{3}>, Shape{3}> network;
  network.write_weight(0, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  std::vector<float> const x{-1, -2, -4, -8, -16, -32}, labels{2, 0};
  auto const check = [&]<NegativeLogLikelihood loss>() {
    Solver<decltype(network), loss, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
    float const w = loss.loss_weight;
    CHECK(solver.train_minibatch(x, labels) == 6 * w);  // (4 + 8) / 2
    CHECK(test::canonical<decltype(network)>(solver.gradients()) ==
          std::vector<float>{8 * w, 16 * w, 32 * w, 0, 0, 0, w, 2 * w, 4 * w, -w, 0, -w});
  };
  check.operator()<NegativeLogLikelihood{3}>();
  check.operator()<NegativeLogLikelihood{.num_classes = 3, .loss_weight = 0.5f}>();
}

TEST_CASE("NegativeLogLikelihood after LogSoftmax: the gradient is softmax minus one-hot") {
  using Net = Sequential<Linear{4}, LogSoftmax{}>;
  Network<Net, Shape{1}> network;
  network.write_weight(0, std::vector<float>(4, 0));
  Solver<decltype(network), NegativeLogLikelihood{4}, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}>
      solver{network};
  CHECK(solver.train_minibatch(std::vector<float>{1}, std::vector<float>{3}) == Approx(std::log(4.0)));
  CHECK(test::canonical<decltype(network)>(solver.gradients()) ==
        std::vector<float>{.25f, .25f, .25f, -.75f, .25f, .25f, .25f, -.75f});
}

static_assert(NegativeLogLikelihood{9}.target_shape({3, 3}) == Shape{1});
TEST_CASE("NegativeLogLikelihood takes as many scores as there are classes") {
  for (Index const scores : {1, 2, 4}) CHECK_THROWS_AS(NegativeLogLikelihood{3}.target_shape({scores}), ShapeError);
}
