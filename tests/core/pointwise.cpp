#include <coldpress/layers.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

using namespace coldpress;

namespace {

/// y = x² - x: not a function of the output.
struct SquareOp {
  static constexpr bool needs_input = true, heavy = false;
  template <class T>
  T value(T x, Position) const {
    return x * x - x;
  }
  template <class T>
  T gradient(T x, T, Position) const {
    return 2 * x - 1;
  }
};

static_assert(Pointwise<SquareOp> && Pointwise<ReLUOp> && Pointwise<TanHOp> && Pointwise<SigmoidOp> &&
              Pointwise<DropoutOp>);
static_assert(!Pointwise<int>);

template <class Chain>
void check_slope(Chain const& chain, double x, Position at) {
  double const step = 1e-6, y = chain.value(x, at);
  double const numeric = (chain.value(x + step, at) - chain.value(x - step, at)) / (2 * step);
  CHECK(chain.gradient(x, y, at) == Approx(numeric).epsilon(1e-3).margin(1e-5));
}

}  // namespace

TEST_CASE("a chain is its operations one after the other, its slope their product") {
  test::Random random{1};
  for (int i = 0; i < 50; ++i) {
    double const x = static_cast<double>(random.uniform(-2, 2));
    Position const at{i, 2 * i, 5};
    CHECK(chain_of(TanHOp{}, SquareOp{}).value(x, at) == SquareOp{}.value(std::tanh(x), at));
    check_slope(chain_of(SquareOp{}), x, at);
    check_slope(chain_of(TanHOp{}), x, at);
    check_slope(chain_of(TanHOp{}, SquareOp{}, SigmoidOp{}), x, at);
    check_slope(chain_of(SquareOp{}, Dropout{.probability = 0.5f}.op(9), TanHOp{}, SquareOp{}), x, at);
  }
}

TEST_CASE("a chain knows what its gradient reads") {
  STATIC_REQUIRE(!decltype(chain_of(TanHOp{}))::needs_input);
  STATIC_REQUIRE(decltype(chain_of(SquareOp{}))::needs_input);
  STATIC_REQUIRE(decltype(chain_of(TanHOp{}, SigmoidOp{}))::needs_input);
  STATIC_REQUIRE(decltype(chain_of())::length == 0);
  STATIC_REQUIRE(decltype(chain_of(TanHOp{}, SigmoidOp{}))::heavy);
  STATIC_REQUIRE(!decltype(chain_of(ReLUOp{}, SquareOp{}))::heavy);
}
