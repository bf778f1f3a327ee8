#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr SoftlabelSoftmax make(Shape) { return {.loss_weight = 0.75f}; }
};

/// The entropic cost Σ plan (M + log(plan) / lambda), by ten thousand iterations.
double entropic_cost(std::vector<double> const& a, std::vector<double> const& b, double lambda, double power) {
  std::size_t const n = a.size();
  std::vector<double> u(n, 1), v(n);
  auto const cost = [&](std::size_t i, std::size_t j) {
    return std::pow(std::abs(static_cast<double>(i) - static_cast<double>(j)) / static_cast<double>(n - 1), power);
  };
  auto const balance = [&](auto const& mass, auto const& other, auto& factors) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(-lambda * cost(i, j)) * other[j];
      factors[i] = mass[i] / sum;
    }
  };
  for (int k = 0; k < 10000; ++k) balance(b, u, v), balance(a, v, u);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double const plan = u[i] * std::exp(-lambda * cost(i, j)) * v[j];
      total += plan * (cost(i, j) + std::log(plan) / lambda);
    }
  }
  return total;
}
}  // namespace

TEST_CASE("SoftlabelSoftmax keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }

TEST_CASE("Wasserstein's gradients are those of the cost less entropy, where masses move and none is lost") {
  constexpr Wasserstein loss{.lambda = 8, .iterations = 500, .power = 1.5f};
  std::vector<double> a{0.1, 0.3, 0.05, 0.35, 0.2}, b{0.4, 0.1, 0.2, 0.1, 0.2};
  std::vector<double> da(5), db(5);
  loss.sample(Shape{5}, a.data(), b.data(), da.data(), db.data());
  auto const check = [&](std::vector<double>& mass, std::vector<double> const& gradient) {
    for (std::size_t i = 0; i + 1 < mass.size(); ++i) {
      double const step = 1e-5;
      auto const at = [&](double moved) {
        mass[i] += moved, mass[i + 1] -= moved;
        double const value = entropic_cost(a, b, 8, 1.5);
        mass[i] -= moved, mass[i + 1] += moved;
        return value;
      };
      CHECK(gradient[i] - gradient[i + 1] == Approx((at(step) - at(-step)) / (2 * step)).epsilon(1e-5));
    }
  };
  check(a, da);
  check(b, db);
}
// From a program in Python that follows the formulas of layers/wasserstein.hpp.
TEST_CASE("Wasserstein takes as many iterations as it is told, and the target's factors have the last word") {
  std::vector<double> const a{0.5, 0.25, 0.25}, b{0.125, 0.125, 0.75};
  auto const check = [&](Index iterations, double cost, std::vector<double> const& wanted_da,
                         std::vector<double> const& wanted_db) {
    INFO(iterations);
    std::vector<double> da(3), db(3);
    Wasserstein const loss{.lambda = 2, .iterations = iterations};
    CHECK(loss.sample(Shape{3}, a.data(), b.data(), da.data(), db.data()) == Approx(cost).epsilon(1e-12));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(da[i] == Approx(wanted_da[i]).epsilon(1e-12));
      CHECK(db[i] == Approx(wanted_db[i]).epsilon(1e-12));
    }
  };
  check(1, 0.39310249466439173, {-0.030559056749110938, -0.6168372942731348, -0.9312741145384368},
        {-1.073017351857083, -0.8573759655979187, 0.32731974559295307});
  check(3, 0.4567656925144602, {0.07116096512296505, -0.6635000332035669, -1.057356655806158},
        {-1.1579940136053313, -0.8849674347852318, 0.3475205449451016});
}
TEST_CASE("Wasserstein of two places is the mass that has to move") {
  std::vector<float> const a{0.75f, 0.25f}, b{0.25f, 0.75f};
  std::vector<float> da(2);
  float* const none = nullptr;
  CHECK((Wasserstein{.lambda = 100, .loss_weight = 2}.sample(Shape{2}, a.data(), b.data(), da.data(), none)) ==
        Approx(1.0).epsilon(1e-3));
}
TEST_CASE("Wasserstein is finite where a place has no mass, and on the CPU as on the reference") {
  std::vector<float> const a{0, 1, 0}, b{0.5f, 0, 0.5f};
  std::vector<float> da(3), db(3);
  CHECK(Wasserstein{}.sample(Shape{3}, a.data(), b.data(), da.data(), db.data()) == Approx(0.5));
  for (float const g : da) CHECK(std::isfinite(g));
  for (float const g : db) CHECK(std::isfinite(g));
  test::Violations violations;
  test::hidden_training_law<Wasserstein{.lambda = 5}, 7, Softmax{}, Softmax{}>(6, 3, violations);
  test::check_none(violations);
}
TEST_CASE("numbers of Wasserstein out of range are errors") {
  CHECK_THROWS_AS(Wasserstein{.lambda = 0}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(Wasserstein{.lambda = 101}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(Wasserstein{.iterations = 0}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(Wasserstein{.power = 0}.target_shape({3}), ShapeError);
  CHECK_THROWS_AS(Wasserstein{}.target_shape({1025}), ShapeError);
}
