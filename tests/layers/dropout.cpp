#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr Dropout half{.probability = 0.5f};

/// What a network makes of ones in training step `step`.
template <class Network>
auto mask(Network const& network, Index batch, std::uint64_t step = 1) {
  using T = typename Network::T;
  typename Network::TrainingWorkspace workspace;
  std::vector<T> const ones(static_cast<std::size_t>(batch * Network::input_shape.size()), T{1});
  return test::copy_of<float>(network.forward_training(ones, workspace, step));
}

}  // namespace

TEST_CASE("Dropout keeps the laws of layers") { test::check_layer_laws<Dropout{.probability = 0.25f}>(); }

TEST_CASE("Dropout zeroes with its probability and scales what it keeps") {
  Network<Sequential<Dropout{.probability = 0.3f}>, Shape{1000}> network;
  auto const y = mask(network, 100);
  Index kept = 0;
  for (float const value : y) {
    kept += value != 0;
    if (value != 0) CHECK(value == 1 / (1 - 0.3f));
  }
  CHECK(std::abs(static_cast<double>(kept) - 70000) < 5 * std::sqrt(100000 * 0.3 * 0.7));  // five standard deviations
}

TEST_CASE("Dropout of probability 0 changes nothing") {
  Network<Sequential<Dropout{.probability = 0}>, Shape{37}> network;
  auto const x = test::Random{1}.values<float>(5 * 37);
  decltype(network)::TrainingWorkspace workspace;
  CHECK(test::same_bits(network.forward_training(x, workspace), x));
}

TEST_CASE("Dropout does nothing in inference") {
  Network<Sequential<half>, Shape{37}> network;
  auto const x = test::Random{1}.values<float>(5 * 37);
  CHECK(test::same_bits(network.forward(x), x));
}

TEST_CASE("Dropout's mask is the same in backward, and on every backend") {
  Network<Sequential<half>, Shape{131}> network{3};
  Network<Sequential<half>, Shape{131}, DynamicBatch, Reference<double>> reference{3};
  auto const y = mask(network, 7);
  CHECK(y == mask(reference, 7));
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const ones(7 * 131, 1.0f);
  network.forward_training(ones, workspace);
  CHECK(test::copy_of<float>(network.backward(ones, workspace)) == y);
}

TEST_CASE("Dropout's mask depends on step, network seed, layer seed, name, sample and feature") {
  Network<Sequential<half>, Shape{64}> network{3}, other_seed{4};
  Network<Sequential<Dropout{.probability = 0.5f, .seed = 43}>, Shape{64}> other_layer_seed{3};
  Network<Sequential<Named<"another", half>{}>, Shape{64}> other_name{3};
  auto const y = mask(network, 2);
  CHECK(y == mask(network, 2));
  CHECK(y != mask(network, 2, 2));
  CHECK(y != mask(network, 2, (std::uint64_t{1} << 32) + 1));
  CHECK(y != mask(other_seed, 2));
  CHECK(y != mask(other_layer_seed, 2));
  CHECK(y != mask(other_name, 2));
  CHECK(!std::equal(y.begin(), y.begin() + 64, y.begin() + 64));
  std::vector<float> const first(y.begin(), y.begin() + 64);
  CHECK(mask(network, 1) == first);  // a sample's mask does not depend on the batch
}

TEST_CASE("Dropout refuses a probability outside [0, 1)") {
  for (float const probability : {1.0f, -0.1f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK_THROWS_AS(Dropout{.probability = probability}.output_shape({3}), ShapeError);
  }
}
