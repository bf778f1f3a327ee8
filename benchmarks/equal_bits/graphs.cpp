// Networks with branches, several inputs and outputs, shared weights, and their own losses.
#include "network_hash.hpp"

namespace coldpress::equal_bits {
namespace {

constexpr auto residual = graph([](auto x) {
  auto const a = x | Linear{21} | TanH{};
  return ((a | Linear{21}) + a) | ReLU{} | Linear{3};
});
constexpr auto operations = graph([](auto x) {
  auto const a = x | Linear{9}, b = x | Linear{9} | Sigmoid{};
  auto const ratio = a * a / (b + 1.0f), difference = ((x + x) | Linear{9}) - ratio;
  return (ratio - (difference | Linear{9} | GELU{}) * b - difference) | ReLU{};
});
constexpr auto images = graph([](auto x) {
  auto const a = x | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1} | ReLU{};
  auto const b = ((a | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1}) + a) | ReLU{};
  return b | Pooling{.filter_shape = 2, .stride = 2} | Linear{2};
});
constexpr auto siamese = graph([](auto left, auto right) {
  Handle encode{Linear{7}};
  auto const a = left | encode | TanH{}, b = right | encode | TanH{};
  auto const c = a | shared("step", Linear{7}) | Sigmoid{}, d = b | shared("step", Linear{7}) | Sigmoid{};
  apply(MeanSquaredError{}, c, d) | name("distance");
  return outputs(c - d, (c * d) | Linear{2});
});
constexpr auto two_tasks = graph([](auto x, auto labels, auto values) {
  auto const body = x | Linear{11} | ReLU{} | Dropout{.probability = 0.25f};
  auto const scores = body | Linear{3} | LogSoftmax{};
  auto const guess = ((body | Linear{11}) + body) | TanH{} | Linear{2};
  apply(NegativeLogLikelihood{.num_classes = 3}, scores, labels) | name("classes");
  apply(MeanSquaredError{.loss_weight = 0.25f}, guess, values) | name("values");
  apply(Accuracy{}, scores, labels) | name("accuracy");
  return outputs(scores, guess);
});
constexpr auto autoencoder = graph([](auto x) {
  auto const code = x | Linear{4} | name("code");
  auto const deviation = x | Linear{4} | Softplus{};
  auto const noisy = code + deviation * source(RandomNormal{.shape = {4}}, x);
  auto const back = noisy | tied(code) | Sigmoid{};
  apply(GaussianKL{.loss_weight = 0.25f}, code, deviation) | name("divergence");
  apply(BinaryAccuracy{}, back, x) | name("accuracy");
  apply(MeanSquaredError{}, back, x) | name("error");
  return back;
});
constexpr auto attention = graph([](auto x) {
  auto const q = x | Linear{60}, k = x | Linear{60}, v = x | Linear{60};
  auto const split = [](auto y) { return y | Reshape{{5, 3, 4}} | Permute{.axes = {1, 0, 2}}; };
  auto const scores = apply(MatMul{}, split(q), split(k) | Permute{.axes = {0, 2, 1}}) | SoftmaxOver{.axis = -1};
  auto const mixed = apply(MatMul{}, scores, split(v)) | Permute{.axes = {1, 0, 2}} | Reshape{{5, 12}};
  return (mixed + (x | Linear{60} | Reshape{{5, 12}})) | LayerNormalization{} | Linear{3};
});
constexpr auto parts = graph([](auto x) {
  auto const a = x | Linear{6}, b = x | Linear{6} | TanH{};
  auto const both = concat(a, b, a, x | Flatten{}, b, a * b, x | Linear{2}, b);
  auto const [first, second] = coldpress::split<2>(a);
  return outputs(both | Linear{6} | Split{}, (first - second) | Linear{4});
});

}  // namespace

void print_graphs() {
  print<Graph<residual>, Shape{6}>("residual");
  print<Graph<operations>, Shape{5}>("operations by element");
  print<Graph<images>, Shape{2, 8, 6}>("residual of images");
  print<Graph<siamese>, Inputs{Shape{3}, Shape{3}}, OwnLosses{}>("shared weights");
  print<Graph<two_tasks>, Inputs{Shape{5}, Shape{1}, Shape{2}}, OwnLosses{}, Sgd{.learning_rate = 0.05f},
        SolverOptions{}, 3>("two tasks");
  print<Graph<autoencoder>, Shape{9}, OwnLosses{}, Adam{}>("variational autoencoder");
  print<Graph<attention>, Shape{5, 8}>("attention");
  print<Graph<parts>, Shape{2, 2}>("parts");
}

}  // namespace coldpress::equal_bits
