#include "support/forms.hpp"

#include <coldpress/typed/operations.hpp>

#include <tuple>
#include <typeindex>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("functions with losses of their own over linked kernels have the bits of those that are compiled in") {
  static constexpr auto function = graph([](auto x, auto label) {
    auto a = x | Linear{16} | TanH{};
    auto b = a | Linear{16} | Sigmoid{};
    auto y = ((a * b) + a) | Linear{3} | LogSoftmax{} | name("y");
    apply(NegativeLogLikelihood{3}, y, label) | name("loss");
    apply(Accuracy{}, y, label) | name("accuracy");
    return y;
  });
  if (!same_level()) return;
  using Compiled = Network<Graph<function>, Inputs{Shape{5}, Shape{1}}, DynamicBatch, Cpu>;
  using Linked = Network<Graph<function>, Inputs{Shape{5}, Shape{1}}, DynamicBatch, LinkedCpu>;
  Compiled compiled{3};
  Linked linked{3};
  Solver<Compiled, OwnLosses{}, AdamW{.learning_rate = 0.01f}> first{compiled};
  Solver<Linked, OwnLosses{}, AdamW{.learning_rate = 0.01f}> second{linked};
  Random random{5};
  for (int step = 0; step < 5; ++step) {
    auto const x = random.values<float>(8 * 5);
    std::vector<float> const labels{0, 1, 2, 0, 1, 2, 1, 1};
    CHECK(first.train_minibatch(std::tie(x, labels)) == second.train_minibatch(std::tie(x, labels)));
    CHECK(same_bits(compiled.evaluate(x, labels), linked.evaluate(x, labels)));
  }
  CHECK(first.template loss_value<"loss">() == second.template loss_value<"loss">());
  CHECK(compiled.template statistic<"accuracy">() == linked.template statistic<"accuracy">());
  CHECK(canonical(compiled) == canonical(linked));
}

namespace {
constexpr auto operations = graph([](auto x) {
  auto const a = x | Linear{9}, b = x | Linear{9} | Sigmoid{};
  auto const ratio = (a * a) / (b + 1.0f), difference = ratio - a;
  auto const rows = concat(a, b, difference, ratio) | Linear{6} | Reshape{{2, 3}};
  auto const columns = rows | Permute{.axes = {1, 0}} | Split{};
  auto const product = apply(MatMul{}, rows, columns);
  auto const noise = source(RandomNormal{.shape = {2, 2}, .seed = 3}, x);
  auto const code = (product + noise) | Linear{5};
  return code | tied(code) | Linear{3};
});
}  // namespace
TEST_CASE("and so have functions that join, multiply, reorder and draw") { check_forms<Graph<operations>, Shape{6}>(); }

namespace {
// Layers of equal sizes, large enough to be computed by common code: with one reader and with two, with a chain, a join
// or neither, with shared weights and with random numbers.
constexpr auto alike = graph([](auto x) {
  auto const step = [](auto from) { return from | Linear{512} | ReLU{}; };
  auto y = x;
  for (int i = 0; i < 3; ++i) y = step(step(y)) + y;
  auto const code = y | Linear{512};
  y = code | tied(code) | tied(code);
  for (int i = 0; i < 3; ++i) y = y | Linear{512} | Dropout{0.5f};
  for (int i = 0; i < 3; ++i) y = y | LayerNormalization{} | TanH{};
  return step(step(y)) | Linear{3};
});
#if COLDPRESS_NIGHTLY
constexpr auto alike_images = graph([](auto x) {
  auto y = x | Convolution{.num_output = 8, .filter_shape = 3, .padding = 1} | BatchNormalization{} | ReLU{};
  for (int i = 0; i < 3; ++i) y = blocks::basic_residual(blocks::residual(y), 8);
  return blocks::basic_residual(blocks::basic_residual(y, 16, 2), 16) | Pooling{.filter_shape = 2, .stride = 2};
});
#endif
}  // namespace
TEST_CASE("large layers that are alike are computed by the same code, except at the ends") {
  static constexpr auto deep = graph([](auto x) {
    for (int i = 0; i < 9; ++i) x = x | Linear{512} | ReLU{};
    return x;
  });
  using Program = Network<Graph<deep>, Shape{512}, DynamicBatch, Cpu>::Inference;
  std::vector<std::type_index> types;
  Program::for_each_group([&](auto g) { types.emplace_back(typeid(g)); });
  REQUIRE(types.size() == 9);
  for (std::size_t g = 2; g < 8; ++g) CHECK(types[g] == types[1]);
  CHECK(types[0] != types[1]);  // it reads an input
  CHECK(types[8] != types[1]);  // it makes an output
}
TEST_CASE("functions in which many layers are alike have the same bits in both forms") {
  check_forms<Graph<alike>, Shape{512}>();
}
#if COLDPRESS_NIGHTLY
TEST_CASE("and so have images that many layers of equal sizes make") {
  check_forms<Graph<alike_images>, Shape{3, 12, 12}>();
}
#endif

namespace {
/// The gradients of the input and of the weights of a network with two outputs.
template <class Backend>
std::vector<float> gradients_of_two() {
  static constexpr auto two = graph([](auto x) {
    auto const chained = [](auto from) { return from | GELU{} | Linear{515} | TanH{}; };
    auto const first = x | Linear{515};
    auto const second = ((chained(first) | Linear{515}) + first) | Linear{515};
    return outputs(chained(second) | Linear{3}, second);
  });
  using Net = Network<Graph<two>, Shape{7}, DynamicBatch, Backend>;
  auto const net = std::make_unique<Net>(3);
  Random random{5};
  auto const x = random.values<float>(3 * 7), dy = random.values<float>(3 * 3), second = random.values<float>(3 * 515);
  typename Net::TrainingWorkspace workspace;
  net->forward_training(x, workspace);
  auto all = copy_of<float>(net->backward(std::tie(dy, second), workspace));
  auto const weights = canonical<Net>(workspace.gradients());
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}
}  // namespace
TEST_CASE("chains that are alike read inputs whose rows are padded in one place and not in the other") {
  if (same_level()) CHECK(same_bits(gradients_of_two<Cpu>(), gradients_of_two<LinkedCpu>()));
}
