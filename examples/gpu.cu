// A network that is a type, on a GPU: nvcc makes one kernel of a whole training step.
// ctest: cuda:emulated
#include <coldpress/cuda.hpp>

#include <cstdio>
#include <exception>
#include <vector>

using namespace coldpress;

// The same as for the CPU, except for the last template argument.
using Xor = Network<Sequential<Linear{16}, TanH{}, Linear{1}>, Shape{2}, Batch<4>, Cuda>;

int main(int argc, char** argv) try {
  std::vector<float> const x{0, 0, 0, 1, 1, 0, 1, 1};
  std::vector<float> const targets{0, 1, 1, 0};

  Xor net{42, Cuda::on(argc > 1 ? argv[1] : "cuda:0")};
  Solver<Xor, MeanSquaredError{}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}> solver{net};
  for (int step = 0; step < 499; ++step) solver.train_minibatch(x, targets);  // does not wait for the GPU;
  float const loss = solver.train_minibatch(x, targets);                      // reading the loss does

  auto const y = net.forward(x);
  std::printf("loss %.1e; xor of 00 01 10 11: %.2f %.2f %.2f %.2f\n", loss, y[0], y[1], y[2], y[3]);
  return loss < 1e-3f ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}
