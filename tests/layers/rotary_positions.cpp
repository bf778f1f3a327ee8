#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("RotaryPositions keeps the laws of layers") {
  test::check_laws_at<RotaryPositions{}, Shape{5, 18}>();
  test::check_values_at<RotaryPositions{.size = 6, .heads = 2, .rotated = 4}, Shape{3, 24}>();
  test::check_values_at<RotaryPositions{.size = 4, .base = 100, .interleaved = true}, Shape{12}>();
}

TEST_CASE("products of turned values depend on the distance of their steps alone") {
  constexpr Index steps = 40, features = 8;
  Network<Sequential<RotaryPositions{}>, Shape{steps, features}> net;
  auto const a = test::Random{1}.values<float>(features), b = test::Random{2}.values<float>(features);
  auto const turned = [&](std::vector<float> const& value) {
    std::vector<float> x;
    for (Index t = 0; t < steps; ++t) x.insert(x.end(), value.begin(), value.end());
    return test::copy_of<float>(net.forward(x));
  };
  auto const q = turned(a), k = turned(b);
  auto const product = [&](Index at, Index other) {
    double sum = 0;
    for (Index i = 0; i < features; ++i)
      sum += double{q[static_cast<std::size_t>(at * features + i)]} * k[static_cast<std::size_t>(other * features + i)];
    return sum;
  };
  for (Index const distance : {0, 1, 7, 30}) {
    for (Index t = 0; t + distance < steps; ++t)
      CHECK(product(t + distance, t) == Approx(product(distance, 0)).margin(1e-5));
  }
  CHECK(std::abs(product(7, 0) - product(0, 0)) > 0.01);
}

TEST_CASE("a stream of RotaryPositions has the bits of the whole sequence, and starts anew after a reset") {
  constexpr RotaryPositions layer{.size = 6, .heads = 2};
  Network<Sequential<layer>, Shape{300, 18}> whole;
  Network<Sequential<layer>, Shape{18}, Batch<1>> steps;
  auto const x = test::Random{1}.values<float>(300 * 18);
  auto const y = test::copy_of<float>(whole.forward(x));
  for (int again = 0; again < 2; ++again) {
    std::vector<float> all;
    for (std::size_t t = 0; t < 300; ++t) {
      auto const step = steps.step(std::span<float const>{x.data() + t * 18, 18});
      all.insert(all.end(), step.begin(), step.end());
    }
    CHECK(all == y);
    steps.reset();
  }
}

TEST_CASE("RotaryPositions refuses heads that do not fit into a step, and an odd number of features") {
  auto const refused = [](RotaryPositions const& layer, char const* why) {
    CHECK_THROWS_WITH(layer.output_shape({5, 12}), why);
  };
  refused({.size = 5}, "rotary_positions: size must divide the features of a step");
  refused({.size = 4, .heads = 4}, "rotary_positions: a step does not have that many heads");
  refused({.size = 3}, "rotary_positions: the rotated features must be an even number, at most the size of a head");
  refused({.size = 4, .rotated = 6},
          "rotary_positions: the rotated features must be an even number, at most the size of a head");
  refused({.base = 1}, "rotary_positions: base must be a finite number above 1");
  CHECK_THROWS_WITH(RotaryPositions{}.output_shape({5, 2, 2}),
                    "rotary_positions: a sample must be {steps, features} or {features}");
}
