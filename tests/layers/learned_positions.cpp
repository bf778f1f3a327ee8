#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LearnedPositions keeps the laws of layers") {
  test::check_laws_at<LearnedPositions{.most = 7}, Shape{5, 19}>();
  test::check_values_at<LearnedPositions{.most = 1}, Shape{9}>();
}

TEST_CASE("a stream of LearnedPositions goes through the table once, and is NaN after it") {
  using Steps = Network<Sequential<LearnedPositions{.most = 3}>, Shape{2}, Batch<1>>;
  Steps net;
  net.write_weight(0, std::vector<float>{1, 2, 3, 4, 5, 6});
  std::vector<float> const x{10, 20};
  for (int again = 0; again < 2; ++again) {
    for (float const step : {0.0f, 1.0f, 2.0f})
      CHECK(test::copy_of<float>(net.step(x)) == std::vector<float>{11 + 2 * step, 22 + 2 * step});
    CHECK((std::isnan(net.step(x)[0]) && std::isnan(net.step(x)[1])));
    net.reset();
  }
}

TEST_CASE("LearnedPositions refuses longer sequences, and samples that are none") {
  CHECK_THROWS_WITH((LearnedPositions{.most = 4}.output_shape({5, 2})),
                    "learned_positions: a sequence has more than `most` steps");
  CHECK_THROWS_WITH((LearnedPositions{.most = 0}.output_shape({5, 2})),
                    "learned_positions: most must be from 1 to 2^24");
  CHECK_THROWS_WITH((LearnedPositions{}.output_shape({5, 2, 2})),
                    "learned_positions: a sample must be {steps, features} or {features}");
}
