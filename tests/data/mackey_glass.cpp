#include <coldpress/data/mackey_glass.hpp>

#include "data/files.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace coldpress;
using namespace coldpress::data;

TEST_CASE("until the first delay has passed the series follows the closed solution") {
  MackeyGlass const equation{.warm_up = 0};
  auto const values = series(equation, 18);
  double const limit = 0.2 * 1.2 / (0.1 * (1 + std::pow(1.2, 10)));
  for (std::size_t t = 0; t < values.size(); ++t) {
    double const exact = limit + (1.2 - limit) * std::exp(-0.1 * static_cast<double>(t));
    CHECK(std::abs(values[t] - exact) < 2e-7);
  }
}

// From a separate integration whose delayed values all lie on its grid, steps of 0.02, 0.01 and 0.005 extrapolated to
// none.
TEST_CASE("the series is the solution of the equation") {
  auto const values = series({.warm_up = 0}, 301);
  double const exact[][2] = {{18, 0.486979011},  {30, 1.023838255},  {50, 1.060954363},
                             {100, 1.013724017}, {200, 1.186718107}, {300, 1.152515100}};
  for (auto const& [t, value] : exact) CHECK(std::abs(values[static_cast<std::size_t>(t)] - value) < 1.5e-7);
}

TEST_CASE("a delay between two steps is interpolated to the order of the method") {
  auto const at = [](double step, int steps_per_sample) {
    return series({.tau = 17.03, .step = step, .steps_per_sample = steps_per_sample, .warm_up = 0}, 101);
  };
  auto const coarse = at(0.1, 10), fine = at(0.01, 100);
  for (std::size_t t = 0; t < coarse.size(); ++t) CHECK(std::abs(coarse[t] - fine[t]) < 2e-5);
}

TEST_CASE("the warm-up is not given, and the attractor has its known extent") {
  auto const all = series({.warm_up = 0}, 3000), late = series({.warm_up = 1000}, 2000);
  CHECK(std::equal(late.begin(), late.end(), all.begin() + 1000));
  auto const [low, high] = std::ranges::minmax(late);
  CHECK((low > 0.2f && low < 0.45f));
  CHECK((high > 1.28f && high < 1.4f));
  CHECK(std::accumulate(late.begin(), late.end(), 0.) / 2000 == Approx(0.93).margin(0.02));
}

TEST_CASE("parameters that mean nothing are refused by name") {
  auto const refusal = [](MackeyGlass const& equation) { return message<ConfigError>([&] { series(equation, 10); }); };
  CHECK(contains(refusal({.step = 0}), "step is 0.000000, expected a positive number"));
  CHECK(contains(refusal({.step = std::nan("")}), "step is nan"));
  CHECK(contains(refusal({.tau = -1}), "tau is -1"));
  CHECK(contains(refusal({.tau = 0.05}), "tau is 0.500000 steps, expected 1 to 10000000"));
  CHECK(contains(refusal({.tau = 1e300}), "expected 1 to 10000000"));
  CHECK(contains(refusal({.exponent = 0}), "exponent"));
  CHECK(contains(refusal({.steps_per_sample = 0}), "steps_per_sample"));
  CHECK(contains(refusal({.warm_up = -1}), "warm_up is -1 and the length 10, expected at least 0"));
  CHECK(contains(refusal({.initial = INFINITY}), "must be finite"));
  CHECK(contains(refusal({.gamma = -50}), "leaves the range of numbers"));
  CHECK_THROWS_AS(series({}, -1), ConfigError);
  CHECK(series({}, 0).empty());
  CHECK(series({.tau = 0.25, .step = 0.25}, 10).size() == 10);  // a delay of one step is one
}

TEST_CASE("windows pairs the last values with the one that comes some steps later") {
  std::vector<float> const values{0, 1, 2, 3, 4, 5, 6};
  Dataset const dataset = windows(values, 3, 2);
  CHECK(dataset.sample_shape == Shape{3});
  CHECK(dataset.target_shape == Shape{1});
  CHECK(dataset.samples == std::vector<float>{0, 1, 2, 1, 2, 3, 2, 3, 4});
  CHECK(dataset.targets == std::vector<float>{4, 5, 6});
  CHECK(windows(values, 6, 1).size() == 1);
  for (auto const& [window, ahead] : {std::pair{7, 1}, {6, 2}, {0, 1}, {1, 0}, {-1, 1}, {1, -1}})
    CHECK(contains(message<ConfigError>([&, w = window, a = ahead] { windows(values, w, a); }),
                   "do not fit into a series of 7"));
}
