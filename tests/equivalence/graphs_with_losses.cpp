// Networks that have their losses, sources of noise and tied weights, as functions, configs and files.
#include "support/graph_equivalence.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Two tasks on one body: classes and values.
constexpr auto two_tasks = graph([](auto x, auto labels, auto values) {
  auto const body = x | Linear{11} | ReLU{} | Dropout{.probability = 0.25f};
  auto const scores = body | Linear{3} | LogSoftmax{} | name("scores");
  auto const guess = (body | Linear{11}) + body | TanH{} | Linear{2} | name("guess");
  apply(NegativeLogLikelihood{.num_classes = 3}, scores, labels) | name("classes");
  apply(MeanSquaredError{.loss_weight = 0.25f}, guess, values) | name("values");
  return outputs(scores, guess);
});

/// A code with noise, and back through the same weights to the input itself.
constexpr auto autoencoder = graph([](auto x) {
  auto const code = x | Linear{4} | name("code");
  auto const spread = x | Linear{4} | Exponential{};
  auto const noisy = code + spread * source(RandomNormal{.shape = {4}}, x);
  auto const back = noisy | tied(code) | Sigmoid{} | name("back");
  apply(MeanSquaredError{}, back, x) | name("error");
  return back;
});

}  // namespace

TEST_CASE("several losses are the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<two_tasks>, Inputs{Shape{5}, Shape{1}, Shape{2}}, 3>();
}

TEST_CASE("each loss has its name, and their sum is the solver's") {
  using Net = Network<Graph<two_tasks>, Inputs{Shape{5}, Shape{1}, Shape{2}}>;
  Net net{1};
  Solver<Net, OwnLosses{}> solver{net};
  Random random{1};
  Minibatch<3> const x{random, 4, [](int k) { return Net::inputs[k]; }, 3};
  float const sum = solver.train_minibatch(x.spans);
  CHECK(solver.loss_value<"classes">() > 0);
  CHECK(solver.loss_value<"values">() > 0);
  CHECK(sum == Approx(solver.loss_value<"classes">() + solver.loss_value<"values">()));
  // Only losses read what comes last: without it, there are outputs all the same.
  CHECK(net.forward(x.values[0]).size() == 12);
}

TEST_CASE("tied weights and noise are the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<autoencoder>, Shape{9}>();
}
