// Labels that are no class, of losses and statistics in a network's own function.
#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>

#include <tuple>

using namespace coldpress;

namespace {

constexpr auto judged = graph([](auto x, auto label) {
  auto const scores = x | Linear{3} | LogSoftmax{};
  apply(NegativeLogLikelihood{3}, scores, label) | name("loss");
  apply(Accuracy{}, scores, label) | name("accuracy");
  return scores;
});
using Net = Network<Graph<judged>, Inputs{Shape{2}, Shape{1}}>;

}  // namespace

TEST_CASE("a network's own losses and statistics take no label that is not a class") {
  Net network{1};
  Solver<Net, OwnLosses{}> solver{network};
  std::vector<float> const x{1, 2, 3, 4}, right{0, 2};
  solver.train_minibatch(std::tie(x, right));
  std::vector<float> const weights(network.parameters().begin(), network.parameters().end());
  for (float const label : {3.0f, -1.0f, 0.5f, 1e9f}) {
    CAPTURE(label);
    std::vector<float> const labels{0, label};
    CHECK_THROWS_AS(solver.train_minibatch(std::tie(x, labels)), DataError);
    CHECK_THROWS_AS(network.evaluate(x, labels), DataError);
    CHECK(weights == std::vector<float>(network.parameters().begin(), network.parameters().end()));
  }
  network.evaluate(x, right);
  CHECK(network.statistic<"loss">() > 0);
}
