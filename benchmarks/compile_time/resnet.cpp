// ResNet-20 for images of 32 x 32 pixels, with batch normalisation and everything that is needed to train it.
#include <coldpress/coldpress.hpp>

#include <vector>

using namespace coldpress;

template <class Value>
constexpr auto normalized(Value x, Index channels, Index filter, Index stride) {
  return x |
         Convolution{.num_output = channels,
                     .filter_shape = filter,
                     .stride = stride,
                     .padding = filter / 2,
                     .has_bias = false} |
         BatchNormalization{};
}
template <class Value>
constexpr auto block(Value x, Index channels, Index stride) {
  auto const by = stride == 1 ? x : normalized(x, channels, 1, stride);
  return (normalized(normalized(x, channels, 3, stride) | ReLU{}, channels, 3, 1) + by) | ReLU{};
}
constexpr auto function = graph([](auto image) {
  auto x = normalized(image, 16, 3, 1) | ReLU{};
  for (Index stage = 0; stage < 3; ++stage) {
    for (Index i = 0; i < 3; ++i) x = block(x, Index{16} << stage, stage > 0 && i == 0 ? 2 : 1);
  }
  return x | GlobalAveragePooling{} | Linear{10} | LogSoftmax{};
});

int main() {
  Network<Graph<function>, Shape{3, 32, 32}> network{7};
  Solver<decltype(network), NegativeLogLikelihood{.num_classes = 10}> solver{network};
  std::vector<float> const images(16 * 3 * 32 * 32, 0.5f), labels(16);
  float const loss = solver.train_minibatch(images, labels);
  return network.forward(images)[0] < loss ? 0 : 1;
}
