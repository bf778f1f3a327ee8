#include "support/catch.hpp"
#include "support/heap.hpp"
#include "support/random.hpp"
#include "support/strangers.hpp"

#include <coldpress/kernels/linked_cpu.hpp>
#include <coldpress/testing.hpp>
#include <coldpress/threads.hpp>

using namespace coldpress;
using namespace stranger;

namespace {

/// Whether the kernels that are linked are for the instructions that this file is compiled for: then bits are equal.
bool same_level() {
#if defined __AVX512F__ && defined __AVX512VL__
  return &cpu::best_table() == &cpu::table_for("v4");
#elif defined __AVX2__ && defined __FMA__
  return &cpu::best_table() == &cpu::table_for("v3");
#elif defined __x86_64__
  return &cpu::best_table() == &cpu::table_for("v2");
#else
  return true;
#endif
}

template <class Net>
std::vector<float> weights_of(Net const& net) {
  return testing::canonical(net);
}

/// Everything that two networks make of the same minibatches.
template <class Compiled, class Linked, auto loss = MeanSquaredError{}, auto optimizer = Sgd{.learning_rate = 0.01f},
          SolverOptions options = SolverOptions{}>
void check_equal() {
  if (!same_level()) {
    WARN("skipped: the kernels that are linked are for other instructions than this file");
    return;
  }
  auto const compiled = std::make_unique<Compiled>(3);
  auto const linked = std::make_unique<Linked>(3);
  REQUIRE(weights_of(*compiled) == weights_of(*linked));
  test::Random random{5};
  for (Index const batch : {1, 2, 3, 17}) {
    INFO("batch " << batch);
    auto const x = random.values<float>(batch * Linked::input_shape.size()),
               dy = random.values<float>(batch * Linked::output_shape.size());
    CHECK(test::same_bits(compiled->forward(x), linked->forward(x)));
    typename Compiled::TrainingWorkspace one;
    typename Linked::TrainingWorkspace two;
    CHECK(test::same_bits(compiled->forward_training(x, one, 7), linked->forward_training(x, two, 7)));
    CHECK(test::same_bits(compiled->backward(dy, one), linked->backward(dy, two)));
    CHECK(test::same_bits(testing::canonical<Compiled>(one.gradients()), testing::canonical<Linked>(two.gradients())));
  }
  Solver<Compiled, loss, optimizer, options> first{*compiled};
  Solver<Linked, loss, optimizer, options> second{*linked};
  for (Index const batch : {5, 1, 16, 16}) {
    auto const x = random.values<float>(batch * Linked::input_shape.size());
    auto const targets = testing::targets_of<loss, float>(random, batch, Linked::output_shape);
    CHECK(first.train_minibatch(x, targets) == second.train_minibatch(x, targets));
    CHECK(test::same_bits(first.output(), second.output()));
  }
  CHECK(weights_of(*compiled) == weights_of(*linked));
}
template <class Net, Shape in, auto... more>
void check_equal_of() {
  check_equal<Network<Net, in, AnyBatch, Cpu>, Network<Net, in, AnyBatch, LinkedCpu>, more...>();
}

}  // namespace

TEST_CASE("dense networks over linked kernels have the bits of those that are compiled in") {
  check_equal_of<Sequential<Linear{33}, ReLU{}, LeakyReLU{}, Linear{10}, LogSoftmax{}>, Shape{7, 3},
                 NegativeLogLikelihood{10}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}>();
  check_equal_of<Sequential<Linear{33}, TanH{}, Dropout{.probability = 0.3f}, GELU{}, Linear{5}>, Shape{70},
                 MeanSquaredError{}, Adam{.learning_rate = 0.01f}>();
}
TEST_CASE("and so have those of images") {
  check_equal_of<
      Sequential<Convolution{.num_output = 5, .filter_shape = 3, .padding = 1}, BatchNormalization{}, ReLU{},
                 Pooling{.filter_shape = 2, .stride = 2}, Convolution{.num_output = 3, .filter_shape = {3, 2}},
                 Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 1}, Flatten{}, Linear{4}>,
      Shape{2, 12, 11}, MeanSquaredError{}, Sgd{.learning_rate = 0.01f}, SolverOptions{.clip_gradients = 1}>();
}
TEST_CASE("and so have those of sequences") {
  check_equal_of<Sequential<Convolution{.num_output = 6, .filter_shape = 3, .dilation = 2}, TanH{},
                            Rnn{.hidden_size = 9, .num_layers = 2}, LayerNormalization{},
                            Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{2}>,
                 Shape{6, 3}, MeanSquaredError{}, RMSprop{.learning_rate = 0.001f},
                 SolverOptions{.weight_decay = 0.01f, .accumulate = 2}>();
}
TEST_CASE("and so have functions with branches and losses of their own") {
  static constexpr auto function = graph([](auto x, auto label) {
    auto a = x | Linear{16} | TanH{};
    auto b = a | Linear{16} | Sigmoid{};
    auto y = ((a * b) + a) | Linear{3} | LogSoftmax{} | name("y");
    apply(NegativeLogLikelihood{3}, y, label) | name("loss");
    apply(Accuracy{}, y, label) | name("accuracy");
    return y;
  });
  if (!same_level()) return;
  using Compiled = Network<Graph<function>, Inputs{Shape{5}, Shape{1}}, AnyBatch, Cpu>;
  using Linked = Network<Graph<function>, Inputs{Shape{5}, Shape{1}}, AnyBatch, LinkedCpu>;
  Compiled compiled{3};
  Linked linked{3};
  Solver<Compiled, OwnLosses{}, AdamW{.learning_rate = 0.01f}> first{compiled};
  Solver<Linked, OwnLosses{}, AdamW{.learning_rate = 0.01f}> second{linked};
  test::Random random{5};
  for (int step = 0; step < 5; ++step) {
    auto const x = random.values<float>(8 * 5);
    std::vector<float> const labels{0, 1, 2, 0, 1, 2, 1, 1};
    CHECK(first.train_minibatch(std::tie(x, labels)) == second.train_minibatch(std::tie(x, labels)));
    CHECK(test::same_bits(compiled.evaluate(x, labels), linked.evaluate(x, labels)));
  }
  CHECK(first.template loss_value<"loss">() == second.template loss_value<"loss">());
  CHECK(compiled.template statistic<"accuracy">() == linked.template statistic<"accuracy">());
  CHECK(weights_of(compiled) == weights_of(linked));
}
TEST_CASE("streams over linked kernels have the bits of those that are compiled in, and allocate nothing") {
  using Layers = Sequential<Convolution{.num_output = 6, .filter_shape = 3}, TanH{}, Rnn{.hidden_size = 9}, Linear{2}>;
  if (!same_level()) return;
  Network<Layers, Shape{3}, Batch<1>, Cpu> compiled{3};
  Network<Layers, Shape{3}, Batch<1>, LinkedCpu> linked{3};
  test::Random random{5};
  for (int t = 0; t < 30; ++t) {
    auto const x = random.values<float>(3);
    auto const expected = compiled.step(x);
    auto const before = test::heap.calls.load();
    auto const y = linked.step(x);
    CHECK(test::heap.calls == before);
    CHECK(test::same_bits(expected, y));
    if (t == 20) compiled.reset(), linked.reset();
  }
}
TEST_CASE("layers of the program's own work over linked kernels") {
  check_equal_of<
      Sequential<Linear{12}, Snake{0.5f}, Jitter{}, Gains{}, Mixing{6}, Snake{}, Shrink{}, Reverse{}, Linear{3}>,
      Shape{5}, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.5f}>();
  static constexpr auto function = graph<Gate, Blend, Staircase>([](auto x) {
    auto a = x | Linear{6}, b = x | Linear{6};
    auto c = apply(Gate{}, a, b);
    return apply(Staircase{}, apply(Blend{0.25f}, c, a), b) | Linear{2};
  });
  check_equal_of<Graph<function>, Shape{5}>();
}

namespace {
struct HalfStep {
  static constexpr int states = 1;
  static constexpr bool heavy = false;
  float learning_rate = 0.1f;
  template <class V>
  __attribute__((always_inline)) constexpr void update(V& weight, V gradient, V (&state)[1]) const {
    state[0] = state[0] * 0.5f + gradient;
    weight -= state[0] * learning_rate;
  }
  bool operator==(HalfStep const&) const = default;
};
/// 1/2 |y - t|, smooth.
struct Distance {
  static constexpr std::string_view name = "distance";
  static constexpr Target target = Target::value;
  constexpr Shape target_shape(Shape const& in) const { return in; }
  template <class V>
  __attribute__((always_inline)) constexpr V value(V y, V t) const {
    return (y - t) * (y - t) * 0.25f;
  }
  template <class V>
  __attribute__((always_inline)) constexpr V gradient(V y, V t) const {
    return (y - t) * 0.5f;
  }
  bool operator==(Distance const&) const = default;
};
}  // namespace

TEST_CASE("losses and optimizers of the program's own work over linked kernels") {
  check_equal_of<Sequential<Linear{12}, TanH{}, Linear{3}>, Shape{5}, Distance{}, HalfStep{}>();
  check_equal_of<Sequential<Linear{12}, TanH{}, Linear{3}>, Shape{5}, Distance{}, HalfStep{},
                 SolverOptions{.clip_gradients = 0.5f}>();
}
TEST_CASE("a network over linked kernels that is moved, copied or given another seed goes on as one that was not") {
  using Net =
      Network<Sequential<Linear{12}, Dropout{.probability = 0.5f}, TanH{}, Linear{3}>, Shape{5}, AnyBatch, LinkedCpu>;
  test::Random random{5};
  auto const x = random.values<float>(4 * 5);
  Net net{3};
  typename Net::TrainingWorkspace space;
  auto const first = test::copy_of<float>(net.forward_training(x, space, 2));
  net.set_seed(4);
  auto const other = test::copy_of<float>(net.forward_training(x, space, 2));
  CHECK(first != other);
  Net moved = std::move(net);
  CHECK(test::same_bits(other, moved.forward_training(x, space, 2)));
  auto copied = space;
  moved.set_seed(3);
  CHECK(test::same_bits(first, moved.forward_training(x, copied, 2)));
  CHECK(test::same_bits(first, moved.forward_training(x, space, 2)));
  auto const inferred = test::copy_of<float>(moved.forward(x));
  Net again = moved;
  { Net const gone = std::move(moved); }
  CHECK(test::same_bits(inferred, again.forward(x)));
}
// A pass over one sample keeps its calls of kernels from the second time on, and then makes them again.
namespace {
using Streamed =
    Sequential<Convolution{.num_output = 6, .filter_shape = 3}, TanH{}, Rnn{.hidden_size = 9}, Softmax{}, Linear{2}>;
template <class Backend>
using Streaming = Network<Streamed, Shape{3}, Batch<1>, Backend>;
}  // namespace

TEST_CASE("a stream over linked kernels follows weights, seeds, states and memory that change under way") {
  if (!same_level()) return;
  Streaming<Cpu> compiled{3};
  auto linked = std::make_unique<Streaming<LinkedCpu>>(3);
  test::Random random{5};
  auto const check = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      auto const x = random.values<float>(3);
      CHECK(test::same_bits(compiled.step(x), linked->step(x)));
    }
  };
  check(4);
  std::vector<float> const weights(static_cast<std::size_t>(compiled.weight_shape(0).size()), 0.25f);
  compiled.write_weight(0, weights), linked->write_weight(0, weights);
  check(4);
  compiled.set_seed(8), linked->set_seed(8);
  check(4);
  auto moved = std::make_unique<Streaming<LinkedCpu>>(std::move(*linked));
  linked = std::move(moved);
  check(4);
  auto const old = std::make_unique<Streaming<LinkedCpu>>(5);
  for (int t = 0; t < 4; ++t) static_cast<void>(old->step(random.values<float>(3)));
  *old = *linked;  // at another address than the calls that it has kept know
  auto const x = random.values<float>(3);
  CHECK(test::same_bits(compiled.step(x), old->step(x)));
  linked->reset(), compiled.reset();
  check(4);
}
TEST_CASE("streams over linked kernels that take turns in one workspace do not mix") {
  if (!same_level()) return;
  Streaming<Cpu> const compiled{3};
  Streaming<LinkedCpu> const linked{3};
  typename Streaming<Cpu>::Workspace one;
  typename Streaming<LinkedCpu>::Workspace two;
  typename Streaming<Cpu>::State states_of_one[2];
  typename Streaming<LinkedCpu>::State states_of_two[2];
  test::Random random{5};
  for (int const turn : {0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0}) {
    auto const x = random.values<float>(3);
    CHECK(test::same_bits(compiled.step(x, states_of_one[turn], one), linked.step(x, states_of_two[turn], two)));
    if (turn == 1) CHECK(test::same_bits(compiled.forward(x, one), linked.forward(x, two)));
  }
}
TEST_CASE("a stream over linked kernels may read what it has made, and takes no more and no less than a sample") {
  if (!same_level()) return;
  using Layers = Sequential<Rnn{.hidden_size = 4}, Linear{2}>;
  Network<Layers, Shape{2}, Batch<1>, Cpu> compiled{3};
  Network<Layers, Shape{2}, Batch<1>, LinkedCpu> linked{3};
  auto a = compiled.step(std::vector{0.5f, -0.5f});
  auto b = linked.step(std::vector{0.5f, -0.5f});
  for (int t = 0; t < 6; ++t) {
    a = compiled.step(a), b = linked.step(b);
    CHECK(test::same_bits(a, b));
  }
  CHECK_THROWS_AS(linked.step(std::vector{0.5f}), ShapeError);
  CHECK_THROWS_AS(linked.step(std::vector{0.5f, 1.0f, 2.0f, 3.0f}), ShapeError);
}
TEST_CASE("a stream over linked kernels is given threads, and is left alone again") {
  ThreadPool threads{2};
  Streaming<LinkedCpu> linked{3}, alone{3};
  test::Random random{5};
  for (int t = 0; t < 12; ++t) {
    if (t == 4) linked.run_on(&threads);
    if (t == 8) linked.run_on(nullptr);
    auto const x = random.values<float>(3);
    CHECK(test::same_bits(linked.step(x), alone.step(x)));
  }
}
TEST_CASE("threads change no bit over linked kernels") {
  using Net = Network<Sequential<Linear{300}, ReLU{}, Linear{300}>, Shape{300}, AnyBatch, LinkedCpu>;
  test::Random random{5};
  auto const x = random.values<float>(64 * 300);
  Net net{3};
  auto const alone = test::copy_of<float>(net.forward(x));
  ThreadPool threads{3};
  net.run_on(&threads);
  CHECK(test::same_bits(alone, net.forward(x)));
}
