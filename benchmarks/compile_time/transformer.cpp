// Two encoder blocks of a transformer, with 64 features and 4 heads and everything that is needed to train them.
#include <coldpress/coldpress.hpp>

#include <vector>

using namespace coldpress;

constexpr auto function = graph([](auto steps) {
  auto x = steps;
  for (int block = 0; block < 2; ++block) x = blocks::transformer(x, 4, 256);
  return x | Linear{10} | LogSoftmax{};
});

int main() {
  Network<Graph<function>, Shape{16, 64}> network{7};
  Solver<decltype(network), NegativeLogLikelihood{.num_classes = 10}, Adam{}> solver{network};
  std::vector<float> const sequences(8 * 16 * 64, 0.5f), labels(8);
  float const loss = solver.train_minibatch(sequences, labels);
  return network.forward(sequences)[0] < loss ? 0 : 1;
}
