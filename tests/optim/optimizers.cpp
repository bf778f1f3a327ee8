// Every optimizer against torch.optim (tests/golden), on every backend.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/compiled_in.hpp>

#include "golden/optimizers.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

#include <limits>

using namespace coldpress;
namespace golden = coldpress::test::golden;

namespace {

struct Penalty {
  float decay = 0;
  Regularization kind = Regularization::l2;
};

/// A row of sixteen values, of which the golden ones are the first: what lies beyond must stay zero.
template <class T>
struct Values {
  alignas(64) T values[16] = {};
  Values() = default;
  explicit Values(double const (&from)[golden::size]) {
    for (int i = 0; i < golden::size; ++i) values[i] = static_cast<T>(from[i]);
  }
};

template <class Backend, class Optimizer>
void check_steps(Optimizer const& optimizer, double const (&expected)[golden::steps][golden::size], Penalty penalty,
                 double tolerance) {
  using T = typename Backend::Scalar;
  Backend const backend{};
  Values<T> weight{golden::start}, states[Optimizer::states];
  for (std::uint64_t step = 0; step < golden::steps; ++step) {
    Values<T> gradient{golden::gradients[step]};
    for (T& g : gradient.values) g *= 4;  // the scale undoes it
    UpdateSink<Optimizer, T> sink{optimizer, 0.25f, weight.values, {}, penalty.decay, penalty.kind};
    if constexpr (requires { optimizer.at(step); }) sink.optimizer = optimizer.at(step + 1);
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = states[s].values;
    backend.apply_gradient(gradient.values, 16, sink);
    for (int i = 0; i < golden::size; ++i)
      CHECK(static_cast<double>(weight.values[i]) == Approx(expected[step][i]).epsilon(tolerance).margin(tolerance));
  }
  for (int i = golden::size; i < 16; ++i) {
    CHECK(weight.values[i] == 0);
    for (auto const& state : states) CHECK(state.values[i] == 0);
  }
}

template <class Optimizer>
void check_backends(Optimizer const& optimizer, double const (&expected)[golden::steps][golden::size],
                    Penalty penalty = {}) {
  check_steps<Reference<double>>(optimizer, expected, penalty, 1e-7);  // corrected constants are floats
  check_steps<Reference<float>>(optimizer, expected, penalty, 4e-6);
  check_steps<Cpu>(optimizer, expected, penalty, 4e-6);
}

constexpr float rate = 0.03125f, epsilon = 0x1p-20f;
constexpr Adam adam{.learning_rate = rate, .beta1 = 0.875f, .beta2 = 0.96875f, .epsilon = epsilon};
constexpr Sgd momentum{.learning_rate = rate, .momentum = 0.75f};

}  // namespace

TEST_CASE("Sgd") {
  check_backends(Sgd{.learning_rate = rate}, golden::sgd);
  check_backends(momentum, golden::momentum);
}
TEST_CASE("Nesterov") { check_backends(Nesterov{.learning_rate = rate, .momentum = 0.75f}, golden::nesterov); }
TEST_CASE("Adam") { check_backends(adam, golden::adam); }
TEST_CASE("AdamW") {
  check_backends(
      AdamW{.learning_rate = rate, .beta1 = 0.875f, .beta2 = 0.96875f, .epsilon = epsilon, .weight_decay = 0.125f},
      golden::adamw);
}
TEST_CASE("RMSprop") {
  check_backends(RMSprop{.learning_rate = rate, .rho = 0.9375f, .epsilon = epsilon}, golden::rmsprop);
}
TEST_CASE("Adagrad has a rate for each element") {
  check_backends(Adagrad{.learning_rate = rate, .epsilon = epsilon}, golden::adagrad);
}
TEST_CASE("Adadelta") {
  check_backends(Adadelta{.learning_rate = 0.5f, .rho = 0.9375f, .epsilon = 0x1p-10f}, golden::adadelta);
}

// With numbers for which the first step is a fraction of small integers; the golden epsilon is too small to tell
// sqrt(s) + epsilon from sqrt(s + epsilon).
TEST_CASE("epsilon stands beside the root, and with Adadelta inside") {
  auto const first_step = [](auto const& optimizer, double gradient, double wanted) {
    INFO(optimizer.name);
    Values<double> weight, states[std::remove_cvref_t<decltype(optimizer)>::states], slope;
    weight.values[0] = 1, slope.values[0] = gradient;
    UpdateSink<std::remove_cvref_t<decltype(optimizer)>, double> sink{optimizer, 1, weight.values, {}};
    if constexpr (requires { optimizer.at(1); }) sink.optimizer = optimizer.at(1);
    for (std::size_t s = 0; s < std::size(states); ++s) sink.state[s] = states[s].values;
    Reference<double>{}.apply_gradient(slope.values, 16, sink);
    CHECK(weight.values[0] == Approx(wanted).epsilon(1e-6));
  };
  first_step(Adagrad{.learning_rate = 0.5f, .epsilon = 0.25f}, 0.75, 1 - 0.5 * 0.75);         // 3/4 / (3/4 + 1/4)
  first_step(RMSprop{.learning_rate = 0.5f, .rho = 0.75f, .epsilon = 0.25f}, 1.5, 1 - 0.75);  // 3/2 / (3/4 + 1/4)
  first_step(Adam{.learning_rate = 0.5f, .epsilon = 0.25f}, 0.75, 1 - 0.5 * 0.75);            // as Adagrad's
  first_step(AdamW{.learning_rate = 0.5f, .epsilon = 0.25f, .weight_decay = 0}, 0.75, 1 - 0.5 * 0.75);
  first_step(Adadelta{.learning_rate = 0.5f, .rho = 0.75f, .epsilon = 0x9p-6f}, 1, 1 - 0.5 * 0.6);  // 3/8 / (5/8)
}

TEST_CASE("L2 adds decay w to the gradient, L1 decay sign(w)") {
  check_backends(momentum, golden::momentum_l2, {0.125f, Regularization::l2});
  check_backends(momentum, golden::momentum_l1, {0.125f, Regularization::l1});
  check_backends(adam, golden::adam_l2, {0.125f, Regularization::l2});
}

TEMPLATE_TEST_CASE("a frozen weight keeps its bits, and its states theirs, whatever the gradient", "", Cpu,
                   Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  for_each_type(BuiltinOptimizers{}, []<class Optimizer>() {
    Values<T> weight{golden::start}, before = weight, states[Optimizer::states], gradient;
    gradient.values[0] = std::numeric_limits<T>::quiet_NaN(), gradient.values[1] = std::numeric_limits<T>::infinity();
    gradient.values[2] = 1;
    UpdateSink<Optimizer, T> sink{
        .optimizer = {}, .scale = 1, .weight = weight.values, .state = {}, .decay = 1, .frozen = true};
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = states[s].values;
    TestType{}.apply_gradient(gradient.values, 16, sink);
    CHECK(test::same_bits(weight.values, before.values));
    for (auto const& state : states) CHECK(test::same_bits(state.values, Values<T>{}.values));
    sink.frozen = false;
    TestType{}.apply_gradient(gradient.values, 16, sink);
    CHECK_FALSE(test::same_bits(weight.values, before.values));
  });
}

TEST_CASE("the square root is right in every lane, at every magnitude") {
  for (float x : {0.0f, 1e-45f, 1e-38f, 0.25f, 2.0f, 3.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
    auto const root = Math<cpu::Vector>::sqrt(cpu::splat(x));
    for (int l = 0; l < cpu::lanes; ++l) CHECK(root[l] == std::sqrt(x));
  }
  CHECK(std::isnan(Math<cpu::Vector>::sqrt(cpu::splat(-1.0f))[0]));
}
