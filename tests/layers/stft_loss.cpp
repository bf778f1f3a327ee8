#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
/// Without logarithms, whose gradients at small magnitudes are as large as the rounding of float is small.
struct Maker {
  static constexpr StftLoss make(Shape) {
    return {.fft_size = {8, 16}, .hop_size = {3, 5}, .window_size = {8, 11}, .log_magnitude = 0, .loss_weight = 0.75f};
  }
};
}  // namespace

TEST_CASE("StftLoss keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }

TEST_CASE("StftLoss is the mean over features, and 0 without gradients where the signals are the same") {
  constexpr StftLoss loss{.fft_size = 8, .hop_size = 4, .window_size = 8};
  test::Random random{3};
  auto const y = random.values<double>(40), t = random.values<double>(40);
  std::vector<double> dy(40), dt(40), one(20), target(20), d_one(20);
  double const both = loss.sample(Shape{20, 2}, y.data(), t.data(), dy.data(), dt.data());
  double sum = 0;
  for (std::size_t f = 0; f < 2; ++f) {
    for (std::size_t i = 0; i < 20; ++i) one[i] = y[2 * i + f], target[i] = t[2 * i + f];
    sum += loss.sample(Shape{20}, one.data(), target.data(), d_one.data(), static_cast<double*>(nullptr));
    for (std::size_t i = 0; i < 20; ++i) CHECK(dy[2 * i + f] == Approx(d_one[i] / 2));
  }
  CHECK(both == Approx(sum / 2));
  CHECK(loss.sample(Shape{20, 2}, y.data(), y.data(), dy.data(), dt.data()) == Approx(0).margin(1e-12));
  for (std::size_t i = 0; i < 40; ++i) CHECK((dy[i] == 0 && dt[i] == 0));
}

TEST_CASE("StftLoss has the gradients of all of its terms, of signals longer and shorter than a frame") {
  for (StftLoss const& loss :
       {StftLoss{.fft_size = {32, 8}, .hop_size = {7, 8}, .window_size = {32, 5}, .magnitude = 0.5f},
        StftLoss{.fft_size = 16, .hop_size = 4, .window_size = 16, .spectral_convergence = 0},
        StftLoss{.fft_size = 2, .hop_size = 1, .window_size = 2, .log_magnitude = 0, .magnitude = 3}}) {
    for (Index const steps : {1, 2, 11, 40}) {
      INFO("frames of " << loss.fft_size[0] << ", " << steps << " steps");
      test::Random random{static_cast<std::uint64_t>(steps)};
      auto y = random.values<double>(steps), t = random.values<double>(steps);
      auto const size = static_cast<std::size_t>(steps);
      std::vector<double> dy(size), dt(size), ignored(size);
      Shape const in{steps};
      loss.sample(in, y.data(), t.data(), dy.data(), dt.data());
      auto const check = [&](std::vector<double>& values, std::vector<double> const& gradient) {
        for (std::size_t i = 0; i < size; ++i) {
          double const kept = values[i], step = 1e-6;
          auto const at = [&](double value) {
            values[i] = value;
            return loss.sample(in, y.data(), t.data(), ignored.data(), static_cast<double*>(nullptr));
          };
          double const numeric = (at(kept + step) - at(kept - step)) / (2 * step);
          values[i] = kept;
          CHECK(gradient[i] == Approx(numeric).epsilon(1e-4).margin(1e-6));
        }
      };
      check(y, dy);
      check(t, dt);
    }
  }
}

TEST_CASE("StftLoss of silence is finite, and has no gradient below epsilon") {
  std::vector<float> const silence(64);
  std::vector<float> y(64), dy(64);
  float* const none = nullptr;
  constexpr StftLoss loss{.fft_size = 16, .hop_size = 8, .window_size = 16};
  CHECK(loss.sample(Shape{64}, y.data(), silence.data(), dy.data(), none) == 0);
  y[30] = 1;
  CHECK(std::isfinite(loss.sample(Shape{64}, y.data(), silence.data(), dy.data(), none)));
  for (float const d : dy) CHECK(std::isfinite(d));
  CHECK(loss.sample(Shape{64}, silence.data(), y.data(), dy.data(), none) > 1);
  for (float const d : dy) CHECK(d == 0);
}

TEST_CASE("numbers of StftLoss out of range are errors") {
  CHECK_NOTHROW(StftLoss{}.target_shape({8192, 1}));
  CHECK_THROWS_AS(StftLoss{.fft_size = 1000}.target_shape({9}), ShapeError);
  CHECK_THROWS_AS(StftLoss{.fft_size = 4096}.target_shape({9}), ShapeError);
  CHECK_THROWS_AS(StftLoss{.fft_size = 64}.target_shape({9}), ShapeError);  // hops and windows are longer
  CHECK_THROWS_AS((StftLoss{.hop_size = {0, 1, 1}}.target_shape({9})), ShapeError);
  CHECK_THROWS_AS(StftLoss{.log_magnitude = -1}.target_shape({9}), ShapeError);
  CHECK_THROWS_AS(StftLoss{.epsilon = 0}.target_shape({9}), ShapeError);
  CHECK_THROWS_AS(StftLoss{}.target_shape({3, 4, 5}), ShapeError);
}
