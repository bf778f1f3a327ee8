// A network is a type: shapes are checked, buffers laid out and passes fused by the compiler.
// ctest:
#include <coldpress/coldpress.hpp>

#include <cstdio>
#include <vector>

using namespace coldpress;

// Two values in, one out. Linear{16} and TanH{} are plain structs; the compiler works out everything between them.
using Xor = Network<Sequential<Linear{16}, TanH{}, Linear{1}>, Shape{2}>;

int main() {
  std::vector<float> const x{0, 0, 0, 1, 1, 0, 1, 1};  // four samples, one after another
  std::vector<float> const targets{0, 1, 1, 0};

  Xor net{42};  // the seed of its first weights
  Solver<Xor, MeanSquaredError{}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}> solver{net};
  float loss = 0;
  // Forward, loss, backward and update are one plan.
  for (int step = 0; step < 500; ++step) loss = solver.train_minibatch(x, targets);

  auto const y = net.forward(x);  // a view of the outputs, any number of samples at a time
  std::printf("loss %.1e; xor of 00 01 10 11: %.2f %.2f %.2f %.2f\n", loss, y[0], y[1], y[2], y[3]);
  return loss < 1e-3f ? 0 : 1;
}
