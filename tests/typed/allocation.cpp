// No heap in steady state, and none ever where the batch is known to the compiler.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/heap.hpp"

#include <vector>

using namespace coldpress;

namespace {

using Images = Sequential<Convolution{.num_output = 6, .filter_shape = {2, 3}, .padding = 1, .dilation = {1, 2}},
                          Pooling{.filter_shape = 2, .stride = 2}, TanH{},
                          Convolution{.num_output = 4, .filter_shape = 2, .stride = 2, .groups = 2},
                          Pooling{.mode = PoolingMode::average, .filter_shape = 2, .padding = 1}, Linear{7}>;
using Layers = Sequential<Linear{40}, Dropout{.probability = 0.5f}, TanH{}, Linear{30}, Sigmoid{}, Softmax{}, ReLU{},
                          Linear{7}, LogSoftmax{}>;
constexpr Sgd sgd{.learning_rate = 0.01f, .momentum = 0.9f};

template <class F>
std::size_t calls_in(F f) {
  std::size_t const before = test::heap.calls;
  f();
  return test::heap.calls - before;
}

}  // namespace

TEST_CASE("the counter sees the heap") {
  CHECK(calls_in([] {
          std::vector<int> const v(100, 1);
          CHECK(v[3] == 1);
        }) > 0);
  CHECK(calls_in([] { HeapMemory<float> const memory{100}; }) > 0);
}

TEST_CASE("after reserve, and for batches no larger, nothing is allocated: inference, training, gradients by hand") {
  using Net = Network<Layers, Shape{4, 5}>;
  Net net{1};
  Solver<Net, NegativeLogLikelihood{7}, sgd> fused{net};
  Solver<Net, NegativeLogLikelihood{7}, sgd, SolverOptions{.clip_gradients = 1}> clipped{net};
  Net::TrainingWorkspace workspace;
  std::vector<float> const x(16 * 20, 0.25f), labels(16, 3), dy(16 * 7, 0.5f);
  net.reserve(16);
  fused.reserve(16);
  clipped.reserve(16);
  workspace.reserve(16);
  auto const use = [&] {
    for (std::size_t const batch : {1u, 16u, 3u}) {
      std::span<float const> const some{x.data(), batch * 20}, few{labels.data(), batch};
      net.forward(some);
      fused.train_minibatch(some, few);
      clipped.train_minibatch(some, few);
      net.forward_training(some, workspace);
      net.backward(std::span{dy.data(), batch * 7}, workspace);
    }
  };
  for (int turn = 0; turn < 1000; ++turn) REQUIRE(calls_in(use) == 0);
}

TEST_CASE("convolutions and poolings allocate nothing after reserve, a stream nothing after its first step") {
  using Net = Network<Images, Shape{2, 9, 8}>;
  Net net{1};
  Solver<Net, MeanSquaredError{}, sgd> solver{net};
  std::vector<float> const x(4 * 144, 0.25f), t(4 * 7, 0.5f);
  net.reserve(4), solver.reserve(4);
  Network<Sequential<Convolution{.num_output = 5, .filter_shape = 4, .dilation = 2}>, Shape{3}> stream;
  stream.step(std::span{x.data(), 3});
  auto const use = [&] {
    net.forward(x);
    solver.train_minibatch(x, t);
    stream.step(std::span{x.data(), 3});
    stream.reset();
  };
  for (int turn = 0; turn < 100; ++turn) REQUIRE(calls_in(use) == 0);
}

TEST_CASE("a stream allocates nothing after reserve, not even in its first step") {
  Network<Sequential<Convolution{.num_output = 5, .filter_shape = 4, .dilation = 2}, Linear{2}>, Shape{3}> stream;
  std::vector<float> const x(4 * 3, 0.25f);
  stream.reserve(4);
  CHECK(calls_in([&] { stream.step(x), stream.reset(), stream.step(std::span{x.data(), 3}); }) == 0);
}

TEST_CASE("without reserve, the first call with the largest batch is enough") {
  using Net = Network<Layers, Shape{20}>;
  Net net{1};
  std::vector<float> const x(16 * 20, 0.25f);
  CHECK(calls_in([&] { net.forward(x); }) > 0);
  CHECK(calls_in([&] { net.forward(x), net.forward(std::span{x.data(), 60}); }) == 0);
}

TEST_CASE("a network with a batch the compiler knows never uses the heap: not to be made, not to infer, not to train") {
  static float x[3 * 20], labels[3], dy[3 * 7];
  auto const live = [] {
    using Net = Network<Layers, Shape{20}, Batch<3>>;
    Net net{1};
    Net copy = net;
    Solver<Net, NegativeLogLikelihood{7}, sgd> fused{net};
    Solver<Net, NegativeLogLikelihood{7}, sgd, SolverOptions{.clip_gradients = 1, .keep_gradients = true}> plain{copy};
    Net::TrainingWorkspace workspace;
    Net::Workspace inference;
    for (int turn = 0; turn < 100; ++turn) {
      net.forward(x);
      copy.forward(x, inference);
      fused.train_minibatch(x, labels);
      plain.train_minibatch(x, labels);
      net.forward_training(x, workspace);
      net.backward(dy, workspace);
    }
  };
  CHECK(calls_in(live) == 0);
}

TEST_CASE("recurrent layers allocate nothing: to infer, to stream, to train") {
  static constexpr Rnn lstm{.hidden_size = 9, .num_layers = 2, .dropout_probability = 0.5f};
  static constexpr Rnn gru{.hidden_size = 4, .rnn_type = RnnType::gru, .direction_mode = DirectionMode::bi_directional};
  using Net = Network<Sequential<lstm, gru, Linear{2}>, Shape{5, 3}>;
  using Stream = Network<Sequential<lstm, Linear{2}>, Shape{3}, Batch<1>>;
  Net net{1};
  Solver<Net, MeanSquaredError{}, sgd> solver{net};
  std::vector<float> const x(4 * 15, 0.25f), targets(4 * 2, 3);
  net.reserve(4);
  solver.reserve(4);
  for (int turn = 0; turn < 10; ++turn)
    CHECK(calls_in([&] { net.forward(x), solver.train_minibatch(x, targets); }) == 0);
  CHECK(calls_in([] {
          static float const step[3] = {1, 2, 3};
          Stream stream{1};
          for (int turn = 0; turn < 10; ++turn) stream.step(step);
          stream.reset();
        }) == 0);
}

TEST_CASE("threads and what they do allocate nothing after the first call, where the batch is known not even then") {
  test::FineThreads threads{3};
  using Net = Network<Images, Shape{2, 9, 8}>;
  Net net{1};
  Solver<Net, MeanSquaredError{}, sgd> solver{net};
  std::vector<float> const x(4 * 144, 0.25f), t(4 * 7, 0.5f);
  net.run_on(&threads);
  net.forward(x), solver.train_minibatch(x, t);
  for (int turn = 0; turn < 100; ++turn) REQUIRE(calls_in([&] { net.forward(x), solver.train_minibatch(x, t); }) == 0);

  using Known = Network<Sequential<Linear{200}, TanH{}, Linear{7}>, Shape{144}, Batch<16>>;
  static Known known{1};
  static Solver<Known, MeanSquaredError{}, sgd> trainer{known};
  static float samples[16 * 144], targets[16 * 7];
  known.run_on(&threads);
  CHECK(calls_in([&] { known.forward(samples), trainer.train_minibatch(samples, targets); }) == 0);
}

TEST_CASE("reading and writing weights does not allocate") {
  Network<Layers, Shape{20}> net{1};
  std::vector<float> weight(800);
  CHECK(calls_in([&] { net.read_weight(0, weight), net.write_weight(0, weight); }) == 0);
}
