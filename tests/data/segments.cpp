#include <coldpress/data/segments.hpp>

#include <coldpress/core/fourier.hpp>

#include "data/files.hpp"

#include <cmath>
#include <numeric>
#include <random>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 generator{seed};
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

/// y[i] = f(x[i - delay]), with zeros where there is none.
template <class F>
std::vector<float> delayed(std::vector<float> const& x, Index delay, F f) {
  std::vector<float> y(x.size());
  for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
    Index const from = i - delay;
    if (from >= 0 && from < static_cast<Index>(x.size()))
      y[static_cast<std::size_t>(i)] = f(x[static_cast<std::size_t>(from)]);
  }
  return y;
}

/// What has little energy at high frequencies, as a guitar.
std::vector<float> smooth(std::vector<float> x) {
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t i = 1; i < x.size(); ++i) x[i] = 0.7f * x[i - 1] + 0.3f * x[i];
  return x;
}

}  // namespace

TEST_CASE("the transform is the sum of its definition, and its inverse with the parts exchanged") {
  for (int const bits : {1, 2, 3, 6}) {
    INFO(bits);
    Index const n = Index{1} << bits;
    auto const size = static_cast<std::size_t>(n);
    auto const x = noise(2 * size, 3);
    std::vector<double> re(size), im(size);
    auto const in = [&](Index i) { return static_cast<std::size_t>(i); };
    for (Index i = 0; i < n; ++i)
      re[in(bits_reversed(i, bits))] = x[in(i)], im[in(bits_reversed(i, bits))] = x[size + in(i)];
    auto const roots = [&](Index k) { return root_of_unity(k, n); };
    fourier(OneThread{}, bits, re.data(), im.data(), roots);
    for (Index k = 0; k < n; ++k) {
      double r = 0, s = 0;
      for (Index i = 0; i < n; ++i) {
        double const angle = -2 * M_PI * static_cast<double>(i * k) / static_cast<double>(n);
        double const a = x[in(i)], b = x[size + in(i)];
        r += a * std::cos(angle) - b * std::sin(angle), s += a * std::sin(angle) + b * std::cos(angle);
      }
      CHECK(re[in(k)] == Approx(r).margin(1e-12));
      CHECK(im[in(k)] == Approx(s).margin(1e-12));
    }
    std::vector<double> back_re(size), back_im(size);
    for (Index i = 0; i < n; ++i)
      back_re[in(bits_reversed(i, bits))] = re[in(i)], back_im[in(bits_reversed(i, bits))] = im[in(i)];
    fourier(OneThread{}, bits, back_im.data(), back_re.data(), roots);
    for (Index i = 0; i < n; ++i) CHECK(back_re[in(i)] / static_cast<double>(n) == Approx(x[in(i)]).margin(1e-12));
  }
}

TEST_CASE("a delay is found, forwards and backwards, whatever a device does to the signal") {
  auto const x = noise(20000, 1);
  for (Index const delay : {0, 1, 17, 238, 4000, -1, -300}) {
    INFO(delay);
    CHECK(find_delay({x, delayed(x, delay, [](float v) { return 0.3f * v; })}, 5000) == delay);
    CHECK(find_delay({x, delayed(x, delay, [](float v) { return -std::tanh(8 * v); })}, 5000) == delay);
  }
  // Noise beside the signal, and one of the two longer.
  auto y = delayed(x, 55, [](float v) { return v; });
  auto const other = noise(20000, 2);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += 0.5f * other[i];
  y.resize(15000);
  CHECK(find_delay({x, y}, 1000) == 55);
}

TEST_CASE("a delay of sound without high frequencies is found a little early, and never late") {
  auto const x = smooth(noise(200000, 5));
  for (Index const delay : {0, 100}) {
    auto const found = find_delay({x, smooth(delayed(x, delay, [](float v) { return std::tanh(v); }))}, 1000);
    REQUIRE(found);
    CHECK(*found <= delay);
    CHECK(*found >= delay - 32);
  }
}

TEST_CASE("there is no delay between what has nothing in common, and none in silence") {
  auto const x = noise(20000, 1);
  CHECK_FALSE(find_delay({x, noise(20000, 9)}, 5000));
  CHECK_FALSE(find_delay({x, std::vector<float>(20000)}, 5000));
  CHECK_FALSE(find_delay({std::vector<float>(20000), x}, 5000));
  CHECK_THROWS_AS(find_delay({x, noise(50, 1)}, 50), ShapeError);
  CHECK_THROWS_AS(find_delay({x, noise(100, 1)}, 200), ShapeError);
}

TEST_CASE("a delay is cut off, and both signals end together") {
  SignalPair late{{1, 2, 3, 4, 5}, {0, 0, 1, 2, 3}};
  correct_delay(late, 2);
  CHECK(late.input == std::vector<float>{1, 2, 3});
  CHECK(late.output == std::vector<float>{1, 2, 3});
  SignalPair early{{0, 1, 2, 3}, {1, 2, 3, 4, 5}};
  correct_delay(early, -1);
  CHECK(early.input == std::vector<float>{1, 2, 3});
  CHECK(early.output == std::vector<float>{1, 2, 3});
  CHECK_THROWS_AS(correct_delay(early, 3), ConfigError);
  CHECK_THROWS_AS(correct_delay(early, -3), ConfigError);
  CHECK_THROWS_AS(correct_delay(early, std::numeric_limits<Index>::min()), ConfigError);
  CHECK(early.input.size() == 3);
}

TEST_CASE("segments have their run-in before them, and their targets do not overlap") {
  std::vector<float> steps(20);
  std::iota(steps.begin(), steps.end(), 0.0f);
  std::vector<float> answers = steps;
  for (float& answer : answers) answer += 100;
  auto const source = segments({steps, answers}, {.length = 5, .run_in = 3});
  CHECK(source->size() == 3);
  CHECK(source->sample_shape() == Shape{8, 1});
  CHECK(source->target_shape() == Shape{5, 1});
  std::vector<float> samples(16), targets(10);
  source->reader()->read(1, 2, samples.data(), targets.data());
  CHECK(samples[0] == 5);
  CHECK(samples[7] == 12);
  CHECK(samples[8] == 10);
  CHECK(targets[0] == 108);
  CHECK(targets[9] == 117);
  source->reader()->read(2, 1, nullptr, targets.data());
  CHECK(targets[4] == 117);

  auto const parts = split_end(*source, 0.34);
  CHECK(parts.training->size() == 2);
  CHECK(targets_of(*parts.held_out) == std::vector<float>{113, 114, 115, 116, 117});
  CHECK_THROWS_AS(split_end(*source, 0.01), ConfigError);
  CHECK_THROWS_AS(split_end(*source, 1), ConfigError);
}

TEST_CASE("signals that are too short for a segment are an error with all numbers") {
  std::string const said = message<ConfigError>([] {
    segments({std::vector<float>(9000), std::vector<float>(9000)}, {.length = 8192, .run_in = 4092});
  });
  CHECK(contains(said, "9,000 steps"));
  CHECK(contains(said, "needs 12,284"));
  CHECK_THROWS_AS(segments({{1, 2}, {1, 2}}, {.length = 0}), ConfigError);
  CHECK_THROWS_AS(segments({{1, 2}, {1, 2}}, {.length = 1, .run_in = -1}), ConfigError);
  CHECK(segments({{1, 2}, {1, 2}}, {.length = 1, .run_in = 1})->size() == 1);
}
