#include <coldpress/evaluators/regression_evaluator.hpp>

#include "support/catch.hpp"

#include <vector>

using namespace coldpress;

namespace {

using Floats = std::vector<float>;

double value(std::string const& metric, Floats const& predictions, Floats const& targets,
             std::optional<Index> capacity = {}) {
  RegressionEvaluator evaluator{metric};
  evaluator.add_samples(predictions, targets);
  if (capacity) evaluator.set_capacity(capacity);
  return evaluator.value();
}

}  // namespace

// The first example of scikit-learn's documentation of these metrics: 0.375, 0.5 and 0.948...
TEST_CASE("mse, mae and r2") {
  Floats const targets{3, -0.5f, 2, 7}, predictions{2.5f, 0, 2, 8};
  CHECK(value("mse", predictions, targets) == Approx(0.375));
  CHECK(value("mae", predictions, targets) == Approx(0.5));
  CHECK(value("r2", predictions, targets) == Approx(0.9486081370));
  CHECK(RegressionEvaluator{}.value() != RegressionEvaluator{}.value());  // of nothing: NaN
}

TEST_CASE("r2 where all targets are the same, and where the mean would have done") {
  CHECK(value("r2", {1, 1}, {1, 1}) == 1);
  CHECK(value("r2", {1, 2}, {1, 1}) == 0);
  for (std::size_t n = 1; n < 40; ++n)
    CHECK(value("r2", std::vector<float>(n, 0.2f), std::vector<float>(n, 0.1f)) == 0);
  CHECK(value("r2", {2, 2, 2}, {1, 2, 3}) == Approx(0).margin(1e-12));
}

TEST_CASE("mse is the metric where nothing is said") {
  RegressionEvaluator evaluator;
  evaluator.add_samples(Floats{1, 3}, Floats{0, 0});
  CHECK(evaluator.value() == 5);
}

TEST_CASE("only the last samples count where there is a capacity") {
  CHECK(value("mae", {9, 1, 3}, {0, 0, 0}, 2) == 2);
  RegressionEvaluator evaluator;
  evaluator.set_capacity(1);
  evaluator.add_samples(Floats{9, 9, 2}, Floats{0, 0, 0});
  CHECK(evaluator.value() == 4);
  CHECK(evaluator.samples().size() == 1);
}

TEST_CASE("an unknown metric and unequal numbers are refused") {
  try {
    RegressionEvaluator{"mape"};
    FAIL("was taken");
  } catch (ConfigError const& error) {
    CHECK(error.field() == "metric");
    CHECK(error.sentence() == "there is no metric 'mape'; there are mse, mae and r2");
  }
  RegressionEvaluator evaluator;
  CHECK_THROWS_AS(evaluator.add_samples(Floats{1}, Floats{1, 2}), ShapeError);
  CHECK(evaluator.samples().empty());
}
