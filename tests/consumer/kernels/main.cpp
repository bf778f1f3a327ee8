// Learns which of ten patterns it sees, over the ready-made kernels.
#include <coldpress/coldpress.hpp>

#include <type_traits>
#include <vector>

using namespace coldpress;
using Net = Network<Sequential<Linear{128}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{784}, Batch<64>>;
static_assert(std::is_same_v<Net::Backend, LinkedCpu>, "what links coldpress::kernels has ready-made kernels");

static Net net{7};
static Solver<Net, NegativeLogLikelihood{10}, Sgd{.learning_rate = 0.01f, .momentum = 0.9f}> solver{net};

int main() {
  std::vector<float> images(64 * 784), labels(64);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = i % 784 / 78 == i / 784 % 10 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<float>(i % 10);
  float loss = 0;
  for (int step = 0; step < 200; ++step) loss = solver.train_minibatch(images, labels);
  return loss < 0.1f && net.forward(images).sample(3)[3] > -0.2f ? 0 : 1;
}
