// A pooling in one pass with a convolution: of its own planes alone, and with the bits of two passes.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/passes.hpp"

using namespace coldpress;

namespace {

constexpr Convolution convolution{.num_output = 7, .filter_shape = 3};
/// As it is, and with the pooled value as an output of its own, so that it must be in memory.
template <auto before, auto after>
constexpr auto behind = graph([](auto x) { return x | convolution | before | after; });
template <auto before, auto after>
constexpr auto apart = graph([](auto x) {
  auto const value = x | convolution | before;
  return outputs(value | after, value);
});

template <auto before, auto after>
void check_bits(int fused) {
  using One = Network<Graph<behind<before, after>>, Shape{2, 10, 11}>;
  using Two = Network<Graph<apart<before, after>>, Shape{2, 10, 11}>;
  int pooled = 0;
  for (Group const& group : One::Training::planned.groups) pooled += group.pooling >= 0;
  for (Group const& group : Two::Training::planned.groups) CHECK(group.pooling < 0);
  CHECK(pooled == fused);
  for (Index const batch : {1, 15, 16, 37}) CHECK(test::passed<One>(batch) == test::passed<Two>(batch));
}

/// Three steps of training.
template <class Net>
std::vector<float> trained() {
  Net net{5};
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.1f}> solver{net};
  test::Random random{3};
  auto const x = random.values<float>(8 * Net::input_shape.size()),
             y = random.values<float>(8 * Net::output_shape.size());
  for (int i = 0; i < 3; ++i) solver.train_minibatch(x, y);
  return test::copy_of<float>(net.parameters());
}

}  // namespace

TEST_CASE("one pass has the bits of two: with a chain between only where no value is in two windows") {
  check_bits<Identity{}, Pooling{.filter_shape = 2, .stride = 2}>(1);
  check_bits<Identity{}, Pooling{.filter_shape = 3, .stride = 2, .padding = 1}>(1);
  check_bits<TanH{}, Pooling{.filter_shape = 2, .stride = 2}>(1);
  check_bits<TanH{}, Pooling{.filter_shape = 3, .stride = 1}>(0);
}

TEST_CASE("so do networks whose batch the compiler knows") {
  using Layers =
      Sequential<Convolution{.num_output = 3, .filter_shape = 3}, TanH{}, Pooling{.filter_shape = 2, .stride = 2},
                 Convolution{.num_output = 4, .filter_shape = 2}, Pooling{.filter_shape = 2, .stride = 1}, Linear{2}>;
  CHECK(trained<Network<Layers, Shape{2, 10, 10}>>() == trained<Network<Layers, Shape{2, 10, 10}, Batch<8>>>());
}

TEST_CASE("the planes of a view are not the convolution's") {
  using Layers = Sequential<Convolution{.num_output = 7, .filter_shape = 1}, Reshape{{1, 42, 6}},
                            Pooling{.filter_shape = 2, .stride = 2}>;
  for (Index const batch : {15, 16, 35}) {
    auto const fast = test::passed<Network<Layers, Shape{3, 6, 6}>>(batch),
               exact = test::passed<Network<Layers, Shape{3, 6, 6}, DynamicBatch, Reference<double>>>(batch);
    for (std::size_t i = 0; i < exact.size(); ++i)
      CHECK(test::excess(fast[i], exact[i], static_cast<double>(batch) * 40, 10) <= 1);
  }
}
