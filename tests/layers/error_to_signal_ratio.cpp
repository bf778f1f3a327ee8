#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr ErrorToSignalRatio make(Shape) { return {.epsilon = 0.5f, .loss_weight = 0.75f}; }
};
struct FilteredMaker {
  static constexpr ErrorToSignalRatio make(Shape in) {
    return {.pre_emphasis = in[0] > 1 ? 0.85f : 0.0f, .epsilon = 0.5f};
  }
};
}  // namespace

TEST_CASE("ErrorToSignalRatio keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }
TEST_CASE("ErrorToSignalRatio keeps them with a filter") {
  test::check_own_loss_laws<FilteredMaker, TanH{}, Sigmoid{}>();
}

TEST_CASE("ErrorToSignalRatio is 1 for silence, whatever the signal's size, and filters each feature on its own") {
  std::vector<double> const silence(6), t{1, -2, 3, 5, -1, 4};
  std::vector<double> dy(6);
  double* const none = nullptr;
  CHECK(ErrorToSignalRatio{}.sample(Shape{6}, silence.data(), t.data(), dy.data(), none) == Approx(1));
  // Features {1, 3, -1} and {-2, 5, 4} with 1 - z^-1/2: {2.5, -2.5} and {6, 1.5}; errors of one only in the last step.
  std::vector<double> y = t;
  y[4] += 2;
  constexpr ErrorToSignalRatio filtered{.pre_emphasis = 0.5f};
  CHECK(filtered.sample(Shape{3, 2}, y.data(), t.data(), dy.data(), none) == Approx(4 / (2 * 6.25 + 36 + 2.25)));
  CHECK(dy[2] == Approx(-0.5 * 2 * 2 / 50.75));
  CHECK(dy[5] == 0);
}

TEST_CASE("numbers of ErrorToSignalRatio out of range are errors") {
  CHECK_THROWS_AS(ErrorToSignalRatio{.epsilon = 0}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(ErrorToSignalRatio{.loss_weight = -1}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(ErrorToSignalRatio{.pre_emphasis = 0.5f}.target_shape({1}), ShapeError);
  CHECK_THROWS_AS(ErrorToSignalRatio{.pre_emphasis = std::numeric_limits<float>::infinity()}.target_shape({3}),
                  ShapeError);
}
