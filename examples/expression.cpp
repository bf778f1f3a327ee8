// A network with branches is an ordinary function of its inputs: the compiler runs it and fuses its layers.
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>

#include <cstdio>
#include <tuple>
#include <vector>

using namespace coldpress;

// x is read twice and computed once. Bias, sum and TanH are computed at the end of the second Linear's pass.
constexpr auto block(auto x) {
  auto y = x | Linear{16} | TanH{} | Linear{16};
  return (y + x) | TanH{};
}

constexpr auto function = graph([](auto point, auto label) {
  auto x = point | Linear{16} | TanH{};
  for (int i = 0; i < 3; ++i) x = block(x);
  auto scores = x | Linear{2} | LogSoftmax{} | name("scores");
  apply(NegativeLogLikelihood{2}, scores, label) | name("loss");  // there may be several; they are summed
  return scores;
});

int main() {
  std::vector<float> const points{0, 0, 0, 1, 1, 0, 1, 1}, labels{0, 1, 1, 0};

  using Net = Network<Graph<function>, Inputs{Shape{2}, Shape{1}}>;
  Net net{42};
  Solver<Net, OwnLosses{}, Adam{.learning_rate = 0.01f}> solver{net};
  float loss = 0;
  for (int step = 0; step < 200; ++step) loss = solver.train_minibatch(std::tie(points, labels));
  auto const scores = net.forward(points);  // no labels: only the loss reads them

  dynamic::Network again{function, Shape{2}, Shape{1}};  // the same function, planned at run time
  std::printf("loss %.4f; log p(1) of 01: %.4f; %zu weights as a type, %zu at run time\n", loss, scores.sample(1)[1],
              static_cast<std::size_t>(Net::weight_count), again.learnable_weights_names().size());
  return loss < 0.01f ? 0 : 1;
}
