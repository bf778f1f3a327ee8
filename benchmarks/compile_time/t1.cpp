// The smallest program that declares, trains and runs T1; measure.sh measures what it costs to compile.
#include <coldpress/coldpress.hpp>

#include <cstdio>

using namespace coldpress;
using Net = Network<Sequential<Linear{128}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{784}, Batch<64>>;

static Net net{7};
static Solver<Net, NegativeLogLikelihood{10}, Sgd{.learning_rate = 0.01f, .momentum = 0.9f}> solver{net};
static float images[64 * 784], labels[64];

int main() {
  for (int i = 0; i < 64 * 784; ++i) images[i] = static_cast<float>(i % 251) / 251;
  for (int i = 0; i < 64; ++i) labels[i] = static_cast<float>(i % 10);
  float loss = 0;
  for (int i = 0; i < 100; ++i) loss = solver.train_minibatch(images, labels);
  std::printf("%f %f\n", static_cast<double>(loss), static_cast<double>(net.forward(images)[0]));
}
