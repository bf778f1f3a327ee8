// Training against the formulas of Juice's solver, written out here in double precision, for one layer y = W x + b and
// Σ (y - t)² / N.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/compiled_in.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <algorithm>

using namespace coldpress;

namespace {

constexpr Index in = 3, out = 2;

struct ByHand {
  double rate, momentum, clip, bound;
  double minibatch_size;  // what gradients are divided by; 0: the samples of each call
  std::vector<double> parameters = std::vector<double>(out * in + out), velocity = std::vector<double>(out * in + out);

  double step(std::vector<double> const& x, std::vector<double> const& t) {
    std::size_t const batch = x.size() / in;
    std::vector<double> gradient(parameters.size());
    double loss = 0;
    for (std::size_t n = 0; n < batch; ++n) {
      for (std::size_t o = 0; o < out; ++o) {
        double y = parameters[out * in + o];
        for (std::size_t i = 0; i < in; ++i) y += parameters[o * in + i] * x[n * in + i];
        double const difference = y - t[n * out + o];
        loss += difference * difference / static_cast<double>(batch);
        for (std::size_t i = 0; i < in; ++i) gradient[o * in + i] += 2 * difference * x[n * in + i];
        gradient[out * in + o] += 2 * difference;
      }
    }
    double norm = 0;  // 1. clip by the norm of all gradients together, before they are divided
    for (double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      double g = gradient[p];
      if (clip > 0 && norm > clip) g *= clip / norm;
      g /= minibatch_size > 0 ? minibatch_size : static_cast<double>(batch);  // 2. divide
      if (bound > 0) g = std::clamp(g, -bound, bound);                        // 3. clip each by its value
      velocity[p] = rate * g + momentum * velocity[p];                        // 4. v <- lr g + m v
      parameters[p] -= velocity[p];                                           // 5. w <- w - v
    }
    return loss;
  }
};

template <class Backend, SolverOptions options>
void check_against_hand(Sgd sgd, Index minibatch_size, double tolerance) {
  using T = typename Backend::Scalar;
  using N = Network<Sequential<Linear{out}>, Shape{in}, DynamicBatch, Backend>;
  auto network = test::random_network<N>(1);
  ByHand hand{static_cast<double>(sgd.learning_rate), static_cast<double>(sgd.momentum),
              static_cast<double>(options.clip_gradients), static_cast<double>(options.clip_values),
              static_cast<double>(minibatch_size)};
  hand.parameters = test::copy_of<double>(test::canonical(network));
  Solver<N, MeanSquaredError{}, Sgd{}, options> solver{network};
  solver.optimizer() = sgd;
  solver.minibatch_size = minibatch_size;
  test::Random random{2};
  for (Index const batch : {4, 1, 7, 4, 30, 2, 1, 3}) {
    auto const x = random.values<T>(batch * in, -2, 2), t = random.values<T>(batch * out, -3, 3);
    double const loss = hand.step(test::copy_of<double>(x), test::copy_of<double>(t));
    CHECK(static_cast<double>(solver.train_minibatch(x, t)) == Approx(loss).epsilon(tolerance));
    auto const parameters = test::canonical(network);
    auto const velocity = test::canonical<N>(std::span<T const>{solver.state(0)});
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      CHECK(static_cast<double>(parameters[p]) == Approx(hand.parameters[p]).epsilon(tolerance).margin(tolerance));
      CHECK(static_cast<double>(velocity[p]) == Approx(hand.velocity[p]).epsilon(tolerance).margin(tolerance));
    }
  }
  CHECK(solver.step() == 8);
}

template <SolverOptions options>
void check_backends(Sgd sgd, Index minibatch_size) {
  check_against_hand<Reference<double>, options>(sgd, minibatch_size, 1e-7);  // rate, momentum and scale are floats
  check_against_hand<Reference<float>, options>(sgd, minibatch_size, 2e-5);
  check_against_hand<Cpu, options>(sgd, minibatch_size, 2e-5);
}

}  // namespace

TEST_CASE("Sgd follows the formulas without momentum") {
  check_backends<SolverOptions{}>({.learning_rate = 0.03125f}, 0);
}

TEST_CASE("Sgd follows the formulas with momentum") {
  check_backends<SolverOptions{}>({.learning_rate = 0.03125f, .momentum = 0.75f}, 0);
}

TEST_CASE("gradients are divided by minibatch_size where it is set, whatever the samples of the call") {
  check_backends<SolverOptions{}>({.learning_rate = 0.03125f, .momentum = 0.5f}, 8);
  check_backends<SolverOptions{.keep_gradients = true}>({.learning_rate = 0.03125f, .momentum = 0.5f}, 1000);
}

TEST_CASE("gradients are clipped by their common norm before they are divided") {
  check_backends<SolverOptions{.clip_gradients = 2}>({.learning_rate = 0.03125f, .momentum = 0.5f}, 0);
  check_backends<SolverOptions{.clip_gradients = 30}>({.learning_rate = 0.03125f, .momentum = 0.5f}, 4);
  check_backends<SolverOptions{.clip_gradients = 1e6f, .keep_gradients = true}>({.learning_rate = 0.03125f}, 0);
}

TEST_CASE("each number of the mean gradient is clipped after the division, fused or not") {
  check_backends<SolverOptions{.clip_values = 0.5f}>({.learning_rate = 0.03125f, .momentum = 0.5f}, 0);
  check_backends<SolverOptions{.clip_values = 0.5f, .keep_gradients = true}>({.learning_rate = 0.03125f}, 4);
  check_backends<SolverOptions{.clip_gradients = 30, .clip_values = 0.5f}>({.learning_rate = 0.03125f}, 4);
}

TEST_CASE("the scale of a minibatch's gradients") {
  CHECK(gradient_scale(0, 0, 1) == 1);
  CHECK(gradient_scale(25, 0, 4) == 0.25f);
  CHECK(gradient_scale(25, 10, 4) == 0.25f);
  CHECK(gradient_scale(25, 5, 4) == 0.25f);
  CHECK(gradient_scale(25, 2.5f, 4) == 0.125f);
}
