// error: network: the function takes another number of inputs
// error: 2
// only gcc: Network gives 1, and it takes 2
// only clang: network_inputs(1, 2
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x, auto label) {
  auto const scores = x | Linear{3} | LogSoftmax{};
  apply(NegativeLogLikelihood{3}, scores, label) | name("loss");
  return scores;
});

int main() { Network<Graph<net>, Shape{4}> network; }
