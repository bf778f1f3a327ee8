// The backend with the faster tanh and sigmoid: close to Cpu's values, and steps of a stream with the bits of
// sequences.
#include <coldpress/backend/cpu_fast.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <cmath>

using namespace coldpress;

namespace {

template <RnnType type, Index hidden>
using Model = Sequential<Linear{3}, TanH{}, Rnn{.hidden_size = hidden, .rnn_type = type}, Linear{2}, Sigmoid{}>;

template <class Layers>
void check() {
  constexpr Index steps = 12;
  auto const exact = std::make_unique<Network<Layers, Shape{2}, Batch<1>>>(3);
  auto const fast = std::make_unique<Network<Layers, Shape{2}, Batch<1>, CpuFast>>(3);
  auto const x = test::Random{1}.values<float>(2 * steps);
  bool differs = false;
  for (Index t = 0; t < steps; ++t) {
    std::span<float const> const now{x.data() + 2 * t, 2};
    auto const wanted = exact->step(now), y = fast->step(now);
    for (Index i = 0; i < 2; ++i) {
      CHECK(std::abs(y[i] - wanted[i]) < 2e-6f);
      differs = differs || y[i] != wanted[i];
    }
  }
  CHECK(differs == cpu::has_fma);
}

}  // namespace

// An operation that derives from tanh is another one.
struct Scaled : TanHOp {};
template <class Op>
concept HasFasterForm = requires(Op op) {
  CpuFast::op(op);
};
static_assert(HasFasterForm<TanHOp> && HasFasterForm<SigmoidOp> && !HasFasterForm<Scaled>);

TEST_CASE("the faster forms change the last places alone") {
  check<Model<RnnType::lstm, 8>>();
  check<Model<RnnType::lstm, 20>>();
  check<Model<RnnType::gru, 8>>();
  check<Model<RnnType::gru, 16>>();
  check<Model<RnnType::tanh, 5>>();
}

TEST_CASE("a fast stream has the bits of the whole sequence") {
  using Layers = Sequential<Rnn{.hidden_size = 7}, TanH{}>;
  constexpr Index steps = 9;
  auto const whole = std::make_unique<Network<Layers, Shape{steps, 3}, Batch<1>, CpuFast>>(5);
  auto const live = std::make_unique<Network<Layers, Shape{3}, Batch<1>, CpuFast>>(5);
  auto const x = test::Random{2}.values<float>(3 * steps);
  auto const all = whole->forward(x);
  for (Index t = 0; t < steps; ++t) {
    auto const y = live->step(std::span<float const>{x.data() + 3 * t, 3});
    CHECK(test::same_bits(std::vector<float>(y.begin(), y.end()),
                          std::vector<float>(all.begin() + 7 * t, all.begin() + 7 * (t + 1))));
  }
}

TEST_CASE("a fast network trains") {
  using Net = Network<Sequential<Linear{8}, TanH{}, Linear{1}>, Shape{2}, Batch<4>, CpuFast>;
  auto const net = std::make_unique<Net>(1);
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.05f}> solver{*net};
  auto const x = test::Random{3}.values<float>(8);
  std::vector<float> const y{0.1f, -0.2f, 0.3f, 0.4f};
  float const first = solver.train_minibatch(x, y);
  float last = first;
  for (int i = 0; i < 50; ++i) last = solver.train_minibatch(x, y);
  CHECK(last < first / 2);
}
