// The functions of vectors against long double: errors in units of the last place of the result.
#include <coldpress/backend/math.hpp>
#include <coldpress/layers/gelu.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

using namespace coldpress;

namespace {

using cpu::Vector;

/// |y - exact| in units in the last place of a float near `exact`.
double ulps(float y, long double exact) {
  if (static_cast<long double>(y) == exact) return 0;  // infinities too
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
    for (int l = 0; l < cpu::lanes; ++l) {
      double const error = ulps(y[l], exact(static_cast<long double>(x[l])));
      if (!(error <= most)) most = error;  // a NaN stays
      if (std::isnan(most)) return most;
    }
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
auto const fast_tanh = [](Vector x) { return cpu::tanh<true>(x); };
auto const fast_sigmoid = [](Vector x) { return cpu::sigmoid<true>(x); };
auto const vector_expm1 = [](Vector x) { return cpu::expm1(x); };
auto const vector_log = [](Vector x) { return cpu::log(x); };
auto const vector_softplus = [](Vector x) { return cpu::softplus(x); };
auto const vector_normal_cdf = [](Vector x) { return cpu::normal_cdf(x); };
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
TEST_CASE("tanh is within 2 ulp") {
  CHECK(worst(
            vector_tanh, [](long double x) { return std::tanh(x); }, 20.0f, 509) <= 2);
}
TEST_CASE("tanh keeps zero and its sign, and denormal numbers as they are") {
  for (float const x : {0.f, 1e-45f, 1e-40f, 1e-38f}) {
    CAPTURE(x);
    CHECK(at(vector_tanh, x) == x);
    CHECK(at(vector_tanh, -x) == -x);
  }
  CHECK(std::signbit(at(vector_tanh, -0.f)));
}
TEST_CASE("sigmoid is within 1.8 ulp") {
  CHECK(worst(
            vector_sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, 87.0f, 509) <= 1.8);
}
TEST_CASE("the faster tanh and sigmoid are within 5 ulp") {
  CHECK(worst(
            fast_tanh, [](long double x) { return std::tanh(x); }, 20.0f, 509) <= 5);
  CHECK(worst(
            fast_sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, 87.0f, 509) <= 5);
}
TEST_CASE("narrow vectors give the bits of wide ones") {
  if constexpr (cpu::lanes_of<cpu::Narrow> < cpu::lanes) {
    test::Random random{3};
    for (int turn = 0; turn < 1000; ++turn) {
      std::vector<float> const x = random.values<float>(cpu::lanes);
      Vector const v = cpu::load(x.data()) * 5.f;
      auto const narrow = cpu::resize<cpu::Narrow>(v);
      for (int l = 0; l < cpu::lanes_of<cpu::Narrow>; ++l) {
        CHECK((cpu::tanh(narrow)[l] == cpu::tanh(v)[l] && cpu::sigmoid(narrow)[l] == cpu::sigmoid(v)[l]));
        CHECK((cpu::tanh<true>(narrow)[l] == fast_tanh(v)[l] && cpu::sigmoid<true>(narrow)[l] == fast_sigmoid(v)[l]));
      }
    }
  }
}
TEST_CASE("expm1 is within 2 ulp") {
  CHECK(worst(
            vector_expm1, [](long double x) { return std::expm1(x); }, 88.72f) <= 2);
}
TEST_CASE("log is within 1 ulp, of subnormal numbers too") {
  auto const of_magnitude = [](Vector x) { return cpu::log(x < 0.f ? -x : x); };
  CHECK(worst(
            of_magnitude, [](long double x) { return std::log(std::abs(x)); }, std::numeric_limits<float>::max()) <= 1);
  double near_one = 0;
  for (float x = 0.5f; x < 2; x += 0x1p-16f)
    near_one = std::max(near_one, ulps(at(vector_log, x), std::log(static_cast<long double>(x))));
  CHECK(near_one <= 1);
}
TEST_CASE("softplus is within 3 ulp") {
  auto const exact = [](long double x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); };
  CHECK(worst(vector_softplus, exact, 87.0f) <= 3);
}
TEST_CASE("normal_cdf is within 5 ulp") {
  CHECK(worst(
            vector_normal_cdf, [](long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, 14.2f) <= 5);
}
TEST_CASE("the derivative of GELU is within 2^-22") {
  auto const slope = [](Vector x) {
    GELUOp const gelu{false};
    return gelu.gradient(x, gelu.value(x, {}), {});
  };
  double most = 0;
  for (float magnitude = 20; magnitude > 1e-30f; magnitude *= 0.9998f) {
    for (float const x : {magnitude, -magnitude}) {
      long double const exact = x, density = std::exp(exact * exact / -2) / std::sqrt(2 * 3.14159265358979323846L);
      auto const error = std::abs(at(slope, x) - (std::erfc(-exact / std::sqrt(2.0L)) / 2 + exact * density));
      most = std::max(most, static_cast<double>(error));
    }
  }
  CHECK(most < 0x1p-22);
  CHECK(at(slope, 0) == 0.5f);
  for (float const x : {20.f, 1e30f, infinity}) {
    CHECK(at(slope, x) == 1);
    CHECK(at(slope, -x) == 0);
  }
  CHECK(std::isnan(at(slope, not_a_number)));
}
TEST_CASE("pow is within twice as many ulp as the logarithm of its result, and 4") {
  for (float const exponent : {0.3f, -0.7f, 1.25f, 5.0f, -6.0f, 7.5f}) {
    auto const power = [&](Vector x) { return cpu::pow(x < 0.f ? -x : x, exponent); };
    for (float const limit : {1.0f, 3.0f, 100.0f}) {
      auto const scaled = [&](float x) {
        long double const exact = std::pow(static_cast<long double>(x), static_cast<long double>(exponent));
        return ulps(power(cpu::splat(x))[0], exact) / (4 + 2 * static_cast<double>(std::abs(std::log(exact))));
      };
      double most = 0;
      for (float x = limit; x > limit / 50; x *= 0.999f) most = std::max(most, scaled(x));
      CHECK(most <= 1);
    }
  }
}

TEST_CASE("pow of zeros, infinities and negative bases is that of the standard") {
  for (float const exponent : {3.0f, 2.0f, -3.0f, -2.0f, 0.5f, -0.5f, 2.5f, 5.0f, 16777216.0f}) {
    for (float const base : {0.0f, -0.0f, infinity, -2.0f, -1.0f, -0.5f, 1.0f, 2.0f}) {
      INFO(base << " to the power of " << exponent);
      float const wanted = std::pow(base, exponent), y = at([&](Vector x) { return cpu::pow(x, exponent); }, base);
      if (std::isnan(wanted)) {
        CHECK(std::isnan(y));
      } else {
        CHECK((y == Approx(wanted) && std::signbit(y) == std::signbit(wanted)));
      }
    }
    CHECK(std::isnan(at([&](Vector x) { return cpu::pow(x, exponent); }, not_a_number)));
  }
}

/// f(x), and whether a result on the way was denormal and not exact.
template <class F>
float watched(F f, float x, bool& underflows) {
  float y[cpu::lanes];
  asm volatile("" : "+m"(x));
  std::feclearexcept(FE_ALL_EXCEPT);
  cpu::store(y, f(cpu::splat(x)));
  asm volatile("" : "+m"(y));
  underflows = underflows || std::fetestexcept(FE_UNDERFLOW);
  return y[0];
}

TEST_CASE("activations are exact near zero, and make no denormal number there") {
  using M = Math<Vector>;
  auto const tanh = [](Vector v) { return M::tanh(v); };
  auto const expm1 = [](Vector v) { return M::expm1(v); };
  auto const exp = [](Vector v) { return M::exp(v); };
  auto const sigmoid = [](Vector v) { return M::sigmoid(v); };
  auto const softplus = [](Vector v) { return M::softplus(v); };
  auto const normal_cdf = [](Vector v) { return M::normal_cdf(v); };
  for (float magnitude = 0x1p-25f; magnitude > 1e-36f; magnitude *= 0.7f) {
    for (float const x : {magnitude, -magnitude}) {
      CAPTURE(x);
      long double const exact = x;
      bool underflows = false;
      CHECK(ulps(watched(tanh, x, underflows), std::tanh(exact)) <= 2);
      CHECK(ulps(watched(expm1, x, underflows), std::expm1(exact)) <= 2);
      CHECK(ulps(watched(exp, x, underflows), std::exp(exact)) <= 1.7);
      CHECK(ulps(watched(sigmoid, x, underflows), 1 / (1 + std::exp(-exact))) <= 1.8);
      CHECK(ulps(watched(softplus, x, underflows), std::log1p(std::exp(exact))) <= 3);
      CHECK(ulps(watched(normal_cdf, x, underflows), std::erfc(-exact / std::sqrt(2.0L)) / 2) <= 5);
      CHECK_FALSE(underflows);
    }
  }
  CHECK(std::signbit(at(tanh, -0.f)));
  CHECK(at(tanh, 1e-39f) == 1e-39f);
  CHECK(at(expm1, -1e-39f) == -1e-39f);
  CHECK(std::isnan(at(tanh, not_a_number)));
  CHECK(std::isnan(at(sigmoid, not_a_number)));
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
  CHECK(std::signbit(at(fast_tanh, -0.0f)));
  CHECK(at(fast_tanh, infinity) == Approx(1));
  CHECK(at(fast_tanh, -infinity) == Approx(-1));
  CHECK(at(fast_sigmoid, 0) == 0.5f);
  CHECK(at(fast_sigmoid, infinity) == 1);
  CHECK(at(fast_sigmoid, -infinity) == Approx(0).margin(1e-44));
  CHECK(at(vector_sigmoid, 0) == 0.5f);
  CHECK(at(vector_sigmoid, infinity) == 1);
  CHECK(at(vector_sigmoid, -infinity) == Approx(0).margin(1e-44));
  CHECK(at(vector_expm1, 0) == 0);
  CHECK(at(vector_expm1, infinity) == infinity);
  CHECK(at(vector_expm1, -infinity) == -1);
  CHECK(at(vector_log, 1) == 0);
  CHECK(at(vector_log, 0) == -infinity);
  CHECK(at(vector_log, -0.0f) == -infinity);
  CHECK(at(vector_log, infinity) == infinity);
  CHECK(std::isnan(at(vector_log, -1e-40f)));
  CHECK(std::isnan(at(vector_log, -infinity)));
  CHECK(at(vector_softplus, infinity) == infinity);
  CHECK(at(vector_softplus, 1e4f) == 1e4f);
  CHECK(at(vector_softplus, -1e4f) == 0);
  CHECK(at(vector_softplus, -infinity) == 0);
  CHECK(at(vector_normal_cdf, 0) == 0.5f);
  for (float const x : {1e4f, 1e30f, infinity}) {
    CHECK(at(vector_normal_cdf, x) == 1);
    CHECK(at(vector_normal_cdf, -x) == 0);
  }
  for (float const x : {not_a_number, -not_a_number}) {
    CHECK(std::isnan(at(vector_expm1, x)));
    CHECK(std::isnan(at(vector_log, x)));
    CHECK(std::isnan(at(vector_softplus, x)));
    CHECK(std::isnan(at(vector_normal_cdf, x)));
    CHECK(std::isnan(at(vector_exp, x)));
    CHECK(std::isnan(at(vector_tanh, x)));
    CHECK(std::isnan(at(vector_sigmoid, x)));
    CHECK(std::isnan(at(fast_tanh, x)));
    CHECK(std::isnan(at(fast_sigmoid, x)));
  }
}

TEST_CASE("tanh and sigmoid stay in their range and never turn back") {
  float last_tanh = -1, last_sigmoid = 0;
  for (float x = -12; x < 12; x += 1.0f / 4096) {
    float const t = at(vector_tanh, x), s = at(vector_sigmoid, x);
    REQUIRE((t >= -1 && t <= 1 && s >= 0 && s <= 1));
    REQUIRE((t >= last_tanh - 3e-7f && s >= last_sigmoid - 3e-7f));
    REQUIRE((std::abs(at(fast_tanh, x)) <= 1 && at(fast_sigmoid, x) >= 0 && at(fast_sigmoid, x) <= 1));
    last_tanh = t, last_sigmoid = s;
  }
}

namespace {
/// The product of a and b is computed in both branches, so a compiler may compute it before them.
__attribute__((noinline)) void add_product(bool doubled, Vector const& a, Vector const& b, Vector const& c,
                                           Vector& to) {
  if (doubled) {
    to = cpu::fma(a, b, c + c);
  } else {
    to = cpu::fma(a, b, c);
  }
}
}  // namespace
TEST_CASE("a product that is added is rounded once, or twice where the target has no instruction for it") {
  test::Random random{2};
  for (int n = 0; n < 1000; ++n) {
    float a[cpu::lanes], b[cpu::lanes], c[cpu::lanes];
    for (int l = 0; l < cpu::lanes; ++l) {
      a[l] = static_cast<float>(random.uniform()), b[l] = static_cast<float>(random.uniform());
      c[l] = static_cast<float>(random.uniform());
    }
    bool const doubled = n % 2 == 0;
    Vector y;
    add_product(doubled, cpu::load(a), cpu::load(b), cpu::load(c), y);
    for (int l = 0; l < cpu::lanes; ++l) {
      float const product = a[l] * b[l], sum = doubled ? c[l] + c[l] : c[l];
      CHECK(y[l] == (cpu::has_fma ? std::fma(a[l], b[l], sum) : product + sum));
    }
  }
}

TEST_CASE("a vector draws the random words that its lanes draw one by one") {
  test::Random random{1};
  for (int number = 0; number < 200; ++number) {
    auto const key = static_cast<std::uint64_t>(random.integer(0, Index{1} << 40));
    Position const at{random.integer(0, 1000), cpu::lanes * random.integer(0, 100),
                      static_cast<std::uint64_t>(random.integer(0, Index{1} << 40))};
    cpu::Words const words = Math<Vector>::random(key, at);
    for (int l = 0; l < cpu::lanes; ++l) {
      CHECK(words[l] == Math<float>::random(key, Position{at.row, at.column + l, at.step}));
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
  CHECK(cpu::maximum(-cpu::load(x)) == 0);
  for (float& value : x) {
    float const before = value;
    value = not_a_number;
    CHECK(std::isnan(cpu::maximum(cpu::load(x))));
    value = before;
  }
}
