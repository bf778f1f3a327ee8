// error: the labels of a loss, or of a statistic, must be an input of the network
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  auto const scores = x | Linear{3} | LogSoftmax{};
  apply(NegativeLogLikelihood{.num_classes = 3}, scores, x | Linear{1});
  return scores;
});

int main() { Network<Graph<net>, Shape{4}> network; }
