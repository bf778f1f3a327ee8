// exp, tanh and sigmoid of vectors against long double: errors in units of the last place of the result.
#include <coldpress/backend/math.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <bit>
#include <cmath>
#include <limits>

using namespace coldpress;

namespace {

using cpu::Vector;

/// |y - exact| in units in the last place of a float near `exact`.
double ulps(float y, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  long double const unit = std::ldexp(1.0L, std::max(exponent - 24, -149));
  return static_cast<double>(std::abs(static_cast<long double>(y) - exact) / unit);
}

/// The largest error over all floats whose bits are a multiple of `stride` apart, both signs, up to `limit`.
template <class F, class G>
double worst(F f, G exact, float limit, std::uint32_t stride = 4099) {
  double most = 0;
  for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(limit); bits += stride * cpu::lanes) {
    float x[cpu::lanes];
    for (int l = 0; l < cpu::lanes; ++l) {
      float const magnitude = std::min(limit, std::bit_cast<float>(bits + stride * static_cast<std::uint32_t>(l)));
      x[l] = l % 2 ? -magnitude : magnitude;
    }
    Vector const y = f(cpu::load(x));
    for (int l = 0; l < cpu::lanes; ++l) most = std::max(most, ulps(y[l], exact(static_cast<long double>(x[l]))));
  }
  return most;
}

template <class F>
float at(F f, float x) {
  return f(cpu::splat(x))[cpu::lanes - 1];
}
auto const vector_exp = [](Vector x) { return cpu::exp(x); };
auto const vector_tanh = [](Vector x) { return cpu::tanh(x); };
auto const vector_sigmoid = [](Vector x) { return cpu::sigmoid(x); };
constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("exp is within 1.7 ulp, subnormal results included") {
  CHECK(worst(
            vector_exp, [](long double x) { return std::exp(x); }, 88.72f) <= 1.7);
  double subnormal = 0;
  for (float x = -103.9f; x < -87; x += 0.001f)
    subnormal = std::max(subnormal, ulps(at(vector_exp, x), std::exp(static_cast<long double>(x))));
  CHECK(subnormal <= 1.7);
}
TEST_CASE("tanh is within 1.9 ulp") {
  CHECK(worst(
            vector_tanh, [](long double x) { return std::tanh(x); }, 20.0f) <= 1.9);
}
TEST_CASE("sigmoid is within 1.9 ulp") {
  CHECK(worst(
            vector_sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, 87.0f) <= 1.9);
}

TEST_CASE("ends, zeros and NaN") {
  CHECK(at(vector_exp, 0) == 1);
  CHECK(at(vector_exp, -0.0f) == 1);
  CHECK(at(vector_exp, infinity) == infinity);
  CHECK(at(vector_exp, 200) == infinity);
  CHECK(at(vector_exp, -infinity) == 0);
  CHECK(at(vector_exp, -200) == 0);
  CHECK(at(vector_tanh, 0) == 0);
  CHECK(std::signbit(at(vector_tanh, -0.0f)));
  CHECK(!std::signbit(at(vector_tanh, 0.0f)));
  CHECK(at(vector_tanh, infinity) == 1);
  CHECK(at(vector_tanh, -infinity) == -1);
  CHECK(at(vector_tanh, 1e-40f) == Approx(1e-40f));
  CHECK(at(vector_sigmoid, 0) == 0.5f);
  CHECK(at(vector_sigmoid, infinity) == 1);
  CHECK(at(vector_sigmoid, -infinity) == Approx(0).margin(1e-44));
  for (float const x : {not_a_number, -not_a_number}) {
    CHECK(std::isnan(at(vector_exp, x)));
    CHECK(std::isnan(at(vector_tanh, x)));
    CHECK(std::isnan(at(vector_sigmoid, x)));
  }
}

TEST_CASE("tanh and sigmoid stay in their range and never turn back") {
  float last_tanh = -1, last_sigmoid = 0;
  for (float x = -12; x < 12; x += 1.0f / 4096) {
    float const t = at(vector_tanh, x), s = at(vector_sigmoid, x);
    REQUIRE((t >= -1 && t <= 1 && s >= 0 && s <= 1));
    REQUIRE((t >= last_tanh - 3e-7f && s >= last_sigmoid - 3e-7f));
    last_tanh = t, last_sigmoid = s;
  }
}

TEST_CASE("a vector draws the random words that its lanes draw one by one") {
  test::Random random{1};
  for (int number = 0; number < 200; ++number) {
    auto const key = static_cast<std::uint64_t>(random.integer(0, Index{1} << 40));
    At const at{random.integer(0, 1000), cpu::lanes * random.integer(0, 100),
                static_cast<std::uint64_t>(random.integer(0, Index{1} << 40))};
    cpu::Words const words = Math<Vector>::random(key, at);
    for (int l = 0; l < cpu::lanes; ++l) {
      CHECK(words[l] == Math<float>::random(key, At{at.row, at.column + l, at.step}));
    }
  }
}

TEST_CASE("loads and stores of part of a vector touch nothing else") {
  for (int count = 1; count < cpu::lanes; ++count) {
    std::vector<float> const from = test::Random{2}.values<float>(count);  // exactly that long: sanitizers watch
    Vector const v = cpu::load_partial(from.data(), count);
    for (int l = 0; l < cpu::lanes; ++l) CHECK(v[l] == (l < count ? from[static_cast<std::size_t>(l)] : 0));
    std::vector<float> to(static_cast<std::size_t>(count));
    cpu::store_partial(to.data(), v, count);
    CHECK(to == from);
  }
}

TEST_CASE("the maximum and the sum of lanes") {
  float x[cpu::lanes];
  for (int l = 0; l < cpu::lanes; ++l) x[l] = static_cast<float>((l * 5) % cpu::lanes);
  CHECK(cpu::maximum(cpu::load(x)) == cpu::lanes - 1);
  CHECK(cpu::sum(cpu::load(x)) == cpu::lanes * (cpu::lanes - 1) / 2);
  for (float& value : x) {
    float const before = value;
    value = not_a_number;
    CHECK(std::isnan(cpu::maximum(cpu::load(x))));
    value = before;
  }
}
