#include "support/forms.hpp"
#include "support/heap.hpp"

#include <coldpress/threads.hpp>

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("a network over linked kernels that is moved, copied or given another seed goes on as one that was not") {
  using Net = Network<Sequential<Linear{12}, Dropout{.probability = 0.5f}, TanH{}, Linear{3}>, Shape{5}, DynamicBatch,
                      LinkedCpu>;
  Random random{5};
  auto const x = random.values<float>(4 * 5);
  Net net{3};
  typename Net::TrainingWorkspace space;
  auto const first = copy_of<float>(net.forward_training(x, space, 2));
  net.set_seed(4);
  auto const other = copy_of<float>(net.forward_training(x, space, 2));
  CHECK(first != other);
  Net moved = std::move(net);
  CHECK(same_bits(other, moved.forward_training(x, space, 2)));
  auto copied = space;
  moved.set_seed(3);
  CHECK(same_bits(first, moved.forward_training(x, copied, 2)));
  CHECK(same_bits(first, moved.forward_training(x, space, 2)));
  auto const inferred = copy_of<float>(moved.forward(x));
  Net again = moved;
  { Net const gone = std::move(moved); }
  CHECK(same_bits(inferred, again.forward(x)));
}
TEST_CASE("threads change no bit over linked kernels") {
  using Net = Network<Sequential<Linear{300}, ReLU{}, Linear{300}>, Shape{300}, DynamicBatch, LinkedCpu>;
  Random random{5};
  auto const x = random.values<float>(64 * 300);
  Net net{3};
  auto const alone = copy_of<float>(net.forward(x));
  ThreadPool threads{3};
  net.run_on(&threads);
  CHECK(same_bits(alone, net.forward(x)));
}
TEST_CASE("streams over linked kernels have the bits of those that are compiled in, and allocate nothing") {
  using Layers = Sequential<Convolution{.num_output = 6, .filter_shape = 3}, TanH{}, Rnn{.hidden_size = 9}, Linear{2}>;
  if (!same_level()) return;
  Network<Layers, Shape{3}, Batch<1>, Cpu> compiled{3};
  Network<Layers, Shape{3}, Batch<1>, LinkedCpu> linked{3};
  Random random{5};
  for (int t = 0; t < 30; ++t) {
    auto const x = random.values<float>(3);
    auto const expected = compiled.step(x);
    auto const before = heap.calls.load();
    auto const y = linked.step(x);
    CHECK(heap.calls == before);
    CHECK(same_bits(expected, y));
    if (t == 20) compiled.reset(), linked.reset();
  }
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
  Random random{5};
  auto const check = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      auto const x = random.values<float>(3);
      CHECK(same_bits(compiled.step(x), linked->step(x)));
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
  CHECK(same_bits(compiled.step(x), old->step(x)));
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
  Random random{5};
  for (int const turn : {0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0}) {
    auto const x = random.values<float>(3);
    CHECK(same_bits(compiled.step(x, states_of_one[turn], one), linked.step(x, states_of_two[turn], two)));
    if (turn == 1) CHECK(same_bits(compiled.forward(x, one), linked.forward(x, two)));
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
    CHECK(same_bits(a, b));
  }
  CHECK_THROWS_AS(linked.step(std::vector{0.5f}), ShapeError);
  CHECK_THROWS_AS(linked.step(std::vector{0.5f, 1.0f, 2.0f, 3.0f}), ShapeError);
}
TEST_CASE("a stream over linked kernels is given threads, and is left alone again") {
  ThreadPool threads{2};
  Streaming<LinkedCpu> linked{3}, alone{3};
  Random random{5};
  for (int t = 0; t < 12; ++t) {
    if (t == 4) linked.run_on(&threads);
    if (t == 8) linked.run_on(nullptr);
    auto const x = random.values<float>(3);
    CHECK(same_bits(linked.step(x), alone.step(x)));
  }
}
