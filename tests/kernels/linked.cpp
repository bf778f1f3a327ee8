#include "support/forms.hpp"
#include "support/heap.hpp"

#include <coldpress/threads.hpp>

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("a network over linked kernels that is moved, copied or given another seed goes on as one that was not") {
  using Net =
      Network<Sequential<Linear{12}, Dropout{.probability = 0.5f}, TanH{}, Linear{3}>, Shape{5}, AnyBatch, LinkedCpu>;
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
  using Net = Network<Sequential<Linear{300}, ReLU{}, Linear{300}>, Shape{300}, AnyBatch, LinkedCpu>;
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
