#include "support/catch.hpp"

#include <coldpress/core/flush_denormals.hpp>

#include <cfenv>
#include <future>
#include <stdexcept>
#include <thread>

using coldpress::FlushDenormals;

namespace {

/// A denormal result, and what a denormal operand makes of a sum; computed now, not by the compiler.
float product() {
  float volatile const a = 1e-30f, b = 1e-10f;
  return a * b;
}
float scaled() {
  float volatile const tiny = 1e-40f, large = 1e10f;
  return tiny * large;
}

}  // namespace

TEST_CASE("Under FlushDenormals results and operands that are denormal are zero, and afterwards they are not") {
  if (!FlushDenormals::works) {
    WARN("skipped: this processor has no switch that coldpress knows");
    return;
  }
  REQUIRE(product() > 0);
  REQUIRE(scaled() > 0);
  {
    FlushDenormals const guard;
    REQUIRE(product() == 0);
    REQUIRE(scaled() == 0);
    {
      FlushDenormals const nested;
      REQUIRE(product() == 0);
    }
    REQUIRE(product() == 0);  // the inner one has restored what the outer one had set
  }
  REQUIRE(product() > 0);
  REQUIRE(scaled() > 0);
}

TEST_CASE("FlushDenormals restores the switch when an exception leaves its scope") {
  if (!FlushDenormals::works) {
    WARN("skipped: this processor has no switch that coldpress knows");
    return;
  }
  try {
    FlushDenormals const guard;
    throw std::runtime_error{"out"};
  } catch (std::runtime_error const&) {
  }
  REQUIRE(product() > 0);
}

TEST_CASE("FlushDenormals concerns the calling thread alone") {
  if (!FlushDenormals::works) {
    WARN("skipped: this processor has no switch that coldpress knows");
    return;
  }
  std::promise<void> flushed, looked;
  float inside = 1;
  std::thread other{[&] {
    FlushDenormals const guard;
    inside = product();
    flushed.set_value();
    looked.get_future().wait();  // the guard lives while this thread computes
  }};
  flushed.get_future().wait();
  float const here = product();
  looked.set_value();
  other.join();
  REQUIRE(inside == 0);
  REQUIRE(here > 0);
}

TEST_CASE("FlushDenormals leaves rounding and the flags of exceptions alone") {
  std::feclearexcept(FE_ALL_EXCEPT);
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  {
    FlushDenormals const guard;
    REQUIRE(std::fegetround() == FE_UPWARD);
    float volatile const one = 1, zero = 0;
    float volatile const infinite = one / zero;
    static_cast<void>(infinite);
    REQUIRE(std::fesetround(FE_TONEAREST) == 0);
  }
  REQUIRE(std::fegetround() == FE_TONEAREST);  // set inside, and still so
  REQUIRE(std::fetestexcept(FE_DIVBYZERO) != 0);
}
