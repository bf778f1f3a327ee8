#include <coldpress/coldpress.hpp>
#include <coldpress/core/filler.hpp>
#include <coldpress/core/to_string.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <vector>

using namespace coldpress;

namespace {

std::vector<float> filled(Parameter const& parameter, RandomStream stream) {
  std::vector<float> values(static_cast<std::size_t>(parameter.shape.size()));
  fill(parameter, stream, [&](Index e, float value) { values[static_cast<std::size_t>(e)] = value; });
  return values;
}
struct Moments {
  double low, high, mean, variance, fourth;
};
Moments moments(Filler filler, Index fan_in, Index fan_out, int count = 200000) {
  auto const values = filled({"weight", "-0", {count}, filler, fan_in, fan_out}, RandomStream{3, 0, "linear1-0"});
  auto const [low, high] = std::minmax_element(values.begin(), values.end());
  Moments m{*low, *high, 0, 0, 0};
  for (double v : values) m.mean += v / count;
  for (double v : values) m.variance += (v - m.mean) * (v - m.mean) / count;
  for (double v : values) m.fourth += std::pow(v - m.mean, 4) / count;
  return m;
}

void check_uniform(Moments m, double radius) {
  CHECK(m.low >= -radius * 1.000001);
  CHECK(m.high <= radius * 1.000001);
  CHECK(m.low < -0.999 * radius);
  CHECK(m.high > 0.999 * radius);
  CHECK(std::abs(m.mean) < 0.01 * radius);
  CHECK(m.variance == Approx(radius * radius / 3).epsilon(0.01));
}

}  // namespace

TEST_CASE("Glorot is uniform in ±sqrt(6 / (fan_in + fan_out))") {
  check_uniform(moments(Glorot{}, 784, 128), std::sqrt(6.0 / (784 + 128)));
  check_uniform(moments(Glorot{}, 1, 1), std::sqrt(3.0));
}

TEST_CASE("Xavier is uniform in ±sqrt(3 / fan_in)") { check_uniform(moments(Xavier{}, 50, 7), std::sqrt(3.0 / 50)); }

TEST_CASE("Gaussian has its mean, its deviation and a normal fourth moment") {
  auto const m = moments(Gaussian{.mean = 2, .deviation = 0.5f}, 10, 10);
  CHECK(m.mean == Approx(2).margin(0.006));
  CHECK(m.variance == Approx(0.25).epsilon(0.02));
  CHECK(m.fourth == Approx(3 * 0.0625).epsilon(0.05));
  CHECK((m.low > 2 - 0.5 * 6.7 && m.high < 2 + 0.5 * 6.7));  // what 32 bits of u allow
}

TEST_CASE("Constant is its value everywhere; JuiceBias is one value in [0, sqrt 2) for all elements, sqrt(2 u)") {
  auto const constant = moments(Constant{0.25f}, 3, 4, 100);
  CHECK((constant.low == 0.25 && constant.high == 0.25));
  auto const bias = moments(JuiceBias{}, 3, 4, 100);
  CHECK(bias.low == bias.high);
  Parameter const parameter{"bias", "-0-bias", {4}, JuiceBias{}, 3, 4};
  float least = 2, most = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream const stream{seed, 0, "linear1-0-bias"};
    float const value = filled(parameter, stream)[3];
    CHECK(value == std::sqrt(2 * stream.uniform(0)));
    least = std::min(least, value), most = std::max(most, value);
  }
  CHECK((least < 0.2f && most > 1.35f && most < std::sqrt(2.0f)));
}

TEST_CASE("where a parameter is filled in part, the rest is zero") {
  Parameter parameter{"weight", "-0", {5}, Constant{2}, 3, 4};
  parameter.filled = 3;
  CHECK(filled(parameter, RandomStream{5, 0, "rnn1-0"}) == std::vector<float>{2, 2, 2, 0, 0});
}

TEST_CASE("a network starts with its layers' fillers, by seed and name, the same on every backend") {
  using Net = Sequential<Linear{.output_size = 20, .weight = Gaussian{.deviation = 0.1f}, .bias = Constant{0.5f}},
                         ReLU{}, Linear{7}>;
  Network<Net, Shape{33}> network{5}, same{5}, other{6};
  auto const weight = [](auto const& net, int i) {
    std::vector<float> values(static_cast<std::size_t>(net.weight_shape(i).size()));
    net.read_weight(i, values);
    return values;
  };
  CHECK(network.weight_count == 4);
  CHECK(weight(network, 0) == weight(same, 0));
  CHECK(weight(network, 0) != weight(other, 0));
  CHECK(weight(network, 1) == std::vector<float>(20, 0.5f));
  CHECK(weight(network, 3) == std::vector<float>(7, 0));
  RandomStream const stream{5, 0, "linear2-0"};
  Parameter const parameter{"weight", "-0", {7, 20}, Glorot{}, 20, 7};
  CHECK(weight(network, 2) == filled(parameter, stream));
}

TEST_CASE("Orthogonal has orthonormal rows or columns, whichever are fewer, times the gain") {
  auto const check = [](Shape shape, float gain) {
    INFO(to_string(shape));
    Index const rows = shape[0], columns = shape.size() / rows, few = std::min(rows, columns);
    bool const wide = rows <= columns;
    auto const values =
        filled({"weight", "-0", shape, Orthogonal{gain}, columns, rows}, RandomStream{4, 0, "linear1-0"});
    auto const at = [&](Index vector, Index i) {
      return static_cast<double>(values[static_cast<std::size_t>(wide ? vector * columns + i : i * columns + vector)]);
    };
    double worst = 0;
    for (Index a = 0; a < few; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double product = 0;
        for (Index i = 0; i < std::max(rows, columns); ++i) product += at(a, i) * at(b, i);
        worst =
            std::max(worst, std::abs(product - (a == b ? static_cast<double>(gain) * static_cast<double>(gain) : 0)));
      }
    }
    CHECK(worst < 1e-6);
  };
  check({7, 20}, 1);
  check({20, 7}, 1.5f);
  check({33, 33}, 2);
  check({5, 3, 2, 2}, 1);  // filters
  check({1, 9}, 1), check({9, 1}, 1);
}

TEST_CASE("Orthogonal is evenly distributed, of its own for each seed, and for matrices only") {
  double sum = 0, trace = 0;
  int constexpr seeds = 400, n = 4;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    auto const q = filled({"weight", "-0", {n, n}, Orthogonal{}, n, n}, RandomStream{seed, 0, "linear1-0"});
    sum += static_cast<double>(q[5]), trace += static_cast<double>(q[0] + q[5] + q[10] + q[15]);
  }
  CHECK(std::abs(sum / seeds) < 4 * std::sqrt(1.0 / n / seeds));  // a value has the variance 1/n,
  CHECK(std::abs(trace / seeds) < 4 * std::sqrt(1.0 / seeds));    // and a trace 1 (Diaconis and Shahshahani 1994)
  CHECK_THROWS_AS((Linear{.bias = Orthogonal{}}.parameters({3})), ShapeError);
  CHECK_THROWS_AS(parameters_of(Rnn{.weight = Orthogonal{}}, Shape{3}), ShapeError);
}
