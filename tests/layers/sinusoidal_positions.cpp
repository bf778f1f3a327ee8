#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("SinusoidalPositions keeps the laws of layers") {
  test::check_laws_at<SinusoidalPositions{}, Shape{5, 19}>();
  test::check_values_at<SinusoidalPositions{.base = 100}, Shape{8}>();
}

TEST_CASE("a stream of SinusoidalPositions has the bits of the whole sequence, and starts anew after a reset") {
  Network<Sequential<SinusoidalPositions{}>, Shape{300, 6}> whole;
  Network<Sequential<SinusoidalPositions{}>, Shape{6}, Batch<1>> steps;
  auto const x = test::Random{1}.values<float>(300 * 6);
  auto const y = test::copy_of<float>(whole.forward(x));
  for (int again = 0; again < 2; ++again) {
    std::vector<float> all;
    for (std::size_t t = 0; t < 300; ++t) {
      auto const step = steps.step(std::span<float const>{x.data() + t * 6, 6});
      all.insert(all.end(), step.begin(), step.end());
    }
    CHECK(all == y);
    steps.reset();
  }
}

TEST_CASE("SinusoidalPositions refuses a base that gives no waves, and samples that are no sequences") {
  CHECK_THROWS_WITH(SinusoidalPositions{.base = 1}.output_shape({5, 2}),
                    "sinusoidal_positions: base must be a finite number above 1");
  CHECK_THROWS_WITH(SinusoidalPositions{}.output_shape({5, 2, 2}),
                    "sinusoidal_positions: a sample must be {steps, features} or {features}");
}
