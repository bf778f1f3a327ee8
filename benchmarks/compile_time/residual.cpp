// A residual network of CONVOLUTIONS convolutions with everything that is needed to train it.
#include <coldpress/coldpress.hpp>

#include <vector>

using namespace coldpress;

constexpr auto net = graph([](auto image) {
  auto x = image | Convolution{.num_output = 16, .filter_shape = 3, .padding = 1} | ReLU{};
  for (int block = 0; block < (CONVOLUTIONS - 1) / 2; ++block) x = blocks::residual(x);
  return x | Linear{10} | LogSoftmax{};
});

int main() {
  Network<Graph<net>, Shape{1, 28, 28}> network{7};
  Solver<decltype(network), NegativeLogLikelihood{.num_classes = 10}> solver{network};
  std::vector<float> const images(64 * 784, 0.5f), labels(64);
  float const loss = solver.train_minibatch(images, labels);
  return network.forward(images)[0] < loss ? 0 : 1;
}
